// Comparison of texels by the kernel's own code: devices compare those of depth formats alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

/// A module that compares texels itself.
struct Compared {
    Words words;
    /// The binding numbers of the samplers that compare. Those of number i are the specialization constants
    /// first_constant + 4 i and the three after it, booleans: whether a reference passes that is less than
    /// the texel, equal to it, greater, and whether neighbours are blended.
    std::vector<std::uint32_t> samplers;
    std::string refused;  ///< what of it can't be had, for messages; empty: nothing

    static constexpr std::uint32_t first_constant = 1000;
};

/// The module with gathered texels, comparisons and weights in place of each sample that compares. Samplers
/// are then bound without their comparison. Modules that compare nothing stay as they are.
Compared comparing_itself(const Words& module);

}  // namespace kf::vulkan
