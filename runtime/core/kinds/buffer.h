// The kind of parameters that are buffers: each call takes one whole, as a resource beside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/kinds/access.h"
#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

/// StructuredBuffer<T>, ByteAddressBuffer and those that are written. The argument's rank and inner rank are
/// 1; the fields of a struct lie in one buffer. They have no gradients.
struct Buffer {
    static constexpr const char* word = "buffer";

    Access access = Access::read;
    bool bytes = false;  ///< it has no element: whatever fills whole words is given

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("access", self.access, access_words);
        visit("bytes", self.bytes);
    }

    bool operator==(const Buffer&) const = default;
};

inline HostPassing passed_as(const Buffer&) { return HostPassing::buffer; }

// The answers to kinds/questions.h.
void check_consistency(const Buffer& buffer, const Call& call, const Argument& argument,
                       const std::string& where);
std::string spec_text(const Buffer& buffer, const Argument& argument, const std::string& element);
inline bool reads_elements(const Buffer&, const Argument&) { return true; }
inline bool writes_elements(const Buffer& buffer, const Argument&) { return buffer.access != Access::read; }
inline bool depends_on_elements(const Buffer&, const Argument&) { return true; }
inline std::int64_t extent_in_element(const Buffer&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Buffer&) { return false; }
inline bool has_free_access(const Buffer&) { return true; }
inline bool adds_atomically(const Buffer&) { return false; }
inline bool has_one_gradient(const Buffer&) { return false; }
inline bool requires_contiguous(const Buffer&) { return true; }
bool shares_place(const Buffer& buffer, const Argument& argument);
inline bool lies_in_block(const Buffer&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Buffer&) { return false; }
inline void list_records(const Buffer&, const Argument&, std::int64_t, RecordList&) {}
void list_resources(const Buffer& buffer, const Call& call, std::int64_t index, ResourceList& list);

}  // namespace kf::manifest::kinds
