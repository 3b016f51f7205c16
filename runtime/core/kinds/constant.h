// The kind of arguments whose value the call spec states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

/// Its value stands in the kernel's code: the block has nothing of it, and the host passes nothing.
struct Constant {
    static constexpr const char* word = "constant";

    std::vector<std::string> scalars;  ///< row by row, as JSON spells them; of an enum its integers

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("scalars", self.scalars);
    }

    bool operator==(const Constant&) const = default;
};

/// "constant 3", "constant [1, 2, 3]".
std::string constant_text(const Constant& constant);

inline HostPassing passed_as(const Constant&) { return HostPassing::nothing; }

// The answers to kinds/questions.h.
void check_consistency(const Constant& constant, const Call& call, const Argument& argument,
                       const std::string& where);
inline std::string spec_text(const Constant& constant, const Argument&, const std::string&) {
    return constant_text(constant);
}
inline bool reads_elements(const Constant&, const Argument&) { return true; }
inline bool writes_elements(const Constant&, const Argument&) { return false; }
inline bool depends_on_elements(const Constant&, const Argument&) { return true; }
inline std::int64_t extent_in_element(const Constant&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Constant&) { return false; }
inline bool has_free_access(const Constant&) { return false; }
inline bool has_one_gradient(const Constant&) { return false; }
inline bool adds_atomically(const Constant&) { return false; }
inline bool requires_contiguous(const Constant&) { return false; }
inline bool shares_place(const Constant&, const Argument&) { return false; }
inline bool lies_in_block(const Constant&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Constant&) { return false; }
inline void list_records(const Constant&, const Argument&, std::int64_t, RecordList&) {}
inline void list_resources(const Constant&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds
