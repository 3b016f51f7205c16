// Rewrites SPIR-V for what a device lacks, or does only when asked.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "core/spirv_code.h"

namespace kf::vulkan {

using spirv::Words;

/// A loop of compare and swap in place of every atomic addition of floats in buffers: the same sums, in a
/// device without such additions. What it can't replace (additions in shared memory, words that are no
/// module) it leaves: uses_float_atomics() says so.
Words without_float_atomics(const Words& module);

/// Whether the module asks for float32 additions in memory.
bool uses_float_atomics(const Words& module);

/// Asks for floats that are smaller than normal ones to be kept, where a device may take them as 0.
Words keeping_subnormals(const Words& module);

/// The descriptors that the module names: their sets, and their numbers there.
std::set<std::pair<std::uint32_t, std::uint32_t>> descriptors_of(const Words& module);

}  // namespace kf::vulkan
