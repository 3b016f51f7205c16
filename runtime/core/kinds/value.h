// The kind "value": one element that the host passes by value.
#pragma once

#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

struct Value {
    static constexpr const char* word = "value";

    bool in_memory = false;  ///< of one that is read: too large for the block, so the kernel takes an address

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("in_memory", self.in_memory);
    }

    bool operator==(const Value&) const = default;
};

inline HostPassing passed_as(const Value&) { return HostPassing::value; }

// The answers to kinds/questions.h.
void check_consistency(const Value& value, const Call& call, const Argument& argument,
                       const std::string& where);
std::string spec_text(const Value& value, const Argument& argument, const std::string& element);
bool reads_elements(const Value& value, const Argument& argument);
bool writes_elements(const Value& value, const Argument& argument);
bool depends_on_elements(const Value& value, const Argument& argument);
std::int64_t extent_in_element(const Value& value, const Argument& argument, std::size_t k);
inline bool may_write_through(const Value&) { return false; }
inline bool has_free_access(const Value&) { return false; }
inline bool has_one_gradient(const Value&) { return false; }
inline bool adds_atomically(const Value&) { return false; }
inline bool requires_contiguous(const Value&) { return false; }
inline bool shares_place(const Value&, const Argument&) { return false; }
bool lies_in_block(const Value& value, const Argument& argument);
inline bool counts_along_dimensions(const Value&) { return false; }
void list_records(const Value& value, const Argument& argument, std::int64_t index, RecordList& list);
inline void list_resources(const Value&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds
