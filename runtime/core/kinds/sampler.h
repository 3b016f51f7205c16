// The kind of parameters that are samplers: resources beside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

/// SamplerState and SamplerComparisonState. It has no dimensions, and no element that means anything.
struct Sampler {
    static constexpr const char* word = "sampler";

    bool is_comparison = false;

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("is_comparison", self.is_comparison);
    }

    bool operator==(const Sampler&) const = default;
};

inline HostPassing passed_as(const Sampler&) { return HostPassing::sampler; }

// The answers to kinds/questions.h.
void check_consistency(const Sampler& sampler, const Call& call, const Argument& argument,
                       const std::string& where);
inline std::string spec_text(const Sampler&, const Argument&, const std::string&) { return "sampler"; }
inline bool reads_elements(const Sampler&, const Argument&) { return true; }
inline bool writes_elements(const Sampler&, const Argument&) { return false; }
inline bool depends_on_elements(const Sampler&, const Argument&) { return true; }
inline std::int64_t extent_in_element(const Sampler&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Sampler&) { return false; }
inline bool has_free_access(const Sampler&) { return false; }
inline bool adds_atomically(const Sampler&) { return false; }
inline bool has_one_gradient(const Sampler&) { return false; }
inline bool requires_contiguous(const Sampler&) { return false; }
inline bool shares_place(const Sampler&, const Argument&) { return false; }
inline bool lies_in_block(const Sampler&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Sampler&) { return false; }
inline void list_records(const Sampler&, const Argument&, std::int64_t, RecordList&) {}
void list_resources(const Sampler& sampler, const Call& call, std::int64_t index, ResourceList& list);

}  // namespace kf::manifest::kinds
