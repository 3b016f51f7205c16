// The kind of values that the kernel makes for each call, from a few numbers of the host's or from none.
#pragma once

#include <kf/generator_kind.h>

#include <array>

#include "core/kinds/passed.h"

namespace kf::manifest {

using detail::GeneratorKind;
/// How specs and artifacts name generators, in the order of GeneratorKind.
inline constexpr std::array generator_words{"none",  "call_id",   "thread_id", "grid",
                                            "range", "wang_hash", "rand_float"};

}  // namespace kf::manifest

namespace kf::manifest::kinds {

struct Generator {
    GeneratorKind generator = GeneratorKind::none;

    bool operator==(const Generator&) const = default;
};

inline Passed passed_as(const Generator& kind) {
    const bool own = kind.generator == GeneratorKind::call_id || kind.generator == GeneratorKind::thread_id;
    return own ? Passed::nothing : Passed::generator;
}

}  // namespace kf::manifest::kinds
