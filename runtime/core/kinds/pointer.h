// The kind of parameters that are pointers: the block holds an address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/kinds/access.h"
#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest {

/// What a pointer leads to.
enum class Pointee : std::uint8_t {
    values,    ///< the argument's elements
    structs,   ///< of as many bytes as the argument's element has
    anything,  ///< void*, or another pointer
};
/// How artifacts name them, in the order of Pointee.
inline constexpr std::array pointee_words{"values", "structs", "anything"};

}  // namespace kf::manifest

namespace kf::manifest::kinds {

/// What calls reach through it is their own affair: it has no shape, no gradient, and no element of its own.
struct Pointer {
    static constexpr const char* word = "pointer";

    Access access = Access::read_write;  ///< that its type allows
    Pointee pointee = Pointee::values;
    std::int64_t alignment = 1;  ///< bytes, of an address

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("access", self.access, access_words);
        visit("pointee", self.pointee, pointee_words);
        visit("alignment", self.alignment);
    }

    bool operator==(const Pointer&) const = default;
};

inline HostPassing passed_as(const Pointer&) { return HostPassing::pointer; }

// The answers to kinds/questions.h.
void check_consistency(const Pointer& pointer, const Call& call, const Argument& argument,
                       const std::string& where);
inline std::string spec_text(const Pointer&, const Argument&, const std::string&) { return "pointer"; }
inline bool reads_elements(const Pointer&, const Argument&) { return true; }
inline bool writes_elements(const Pointer&, const Argument&) { return false; }
inline bool depends_on_elements(const Pointer&, const Argument&) { return true; }
inline std::int64_t extent_in_element(const Pointer&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Pointer& pointer) { return pointer.access != Access::read; }
inline bool has_free_access(const Pointer&) { return false; }
inline bool adds_atomically(const Pointer&) { return false; }
inline bool has_one_gradient(const Pointer&) { return false; }
inline bool requires_contiguous(const Pointer&) { return false; }
inline bool shares_place(const Pointer&, const Argument&) { return false; }
inline bool lies_in_block(const Pointer&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Pointer&) { return false; }
void list_records(const Pointer& pointer, const Argument& argument, std::int64_t index, RecordList& list);
inline void list_resources(const Pointer&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds
