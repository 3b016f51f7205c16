// The kind of values that the kernel makes for each call, from a few numbers of the host's or from none.
#pragma once

#include <kf/generator_kind.h>

#include <array>

#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest {

using detail::GeneratorKind;
/// How specs and artifacts name generators, in the order of GeneratorKind.
inline constexpr std::array generator_words{"none",  "call_id",   "thread_id", "grid",
                                            "range", "wang_hash", "rand_float"};

}  // namespace kf::manifest

namespace kf::manifest::kinds {

struct Generator {
    static constexpr const char* word = "generator";

    GeneratorKind generator = GeneratorKind::none;

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("generator", self.generator, generator_words);
    }

    bool operator==(const Generator&) const = default;
};

inline HostPassing passed_as(const Generator& kind) {
    const bool own = kind.generator == GeneratorKind::call_id || kind.generator == GeneratorKind::thread_id;
    return own ? HostPassing::nothing : HostPassing::generator;
}

// The answers to kinds/questions.h.
void check_consistency(const Generator& kind, const Call& call, const Argument& argument,
                       const std::string& where);
std::string spec_text(const Generator& kind, const Argument& argument, const std::string& element);
inline bool reads_elements(const Generator&, const Argument&) { return true; }
inline bool writes_elements(const Generator&, const Argument&) { return false; }
inline bool depends_on_elements(const Generator&, const Argument&) { return true; }
inline std::int64_t extent_in_element(const Generator&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Generator&) { return false; }
inline bool has_free_access(const Generator&) { return false; }
inline bool has_one_gradient(const Generator&) { return false; }
inline bool adds_atomically(const Generator&) { return false; }
inline bool requires_contiguous(const Generator&) { return false; }
inline bool shares_place(const Generator&, const Argument&) { return false; }
inline bool lies_in_block(const Generator&, const Argument&) { return false; }
bool counts_along_dimensions(const Generator& kind);
void list_records(const Generator& kind, const Argument& argument, std::int64_t index, RecordList& list);
inline void list_resources(const Generator&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds
