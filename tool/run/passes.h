// The passes of a call by their names, for those who print them.
#pragma once

#include <array>
#include <string_view>

#include "core/manifest.h"

namespace kf::gen {

struct NamedPass {
    std::string_view words;  ///< for people: "deterministic backward"
    std::string_view key;    ///< for programs: "backward_deterministic"
    manifest::Pass kernels;
};

/// `call`: a manifest::Call, or its CallKernels.
template <class Call>
std::array<NamedPass, 6> named_passes(const Call& call) {
    return {{{"forward", "forward", call.forward},
             {"deterministic forward", "forward_deterministic", call.forward_deterministic},
             {"backward", "backward", call.backward},
             {"deterministic backward", "backward_deterministic", call.deterministic},
             {"fused", "fused", call.fused},
             {"deterministic fused", "fused_deterministic", call.fused_deterministic}}};
}

}  // namespace kf::gen
