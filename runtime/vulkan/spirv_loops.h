// Asks compilers not to unroll the loops whose bodies are large on a CPU.
#pragma once

#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

/// Marks the loops that contain atomic or subgroup operations, themselves or by a call, as not to be
/// unrolled. On a CPU each such operation is a loop over the subgroup's invocations, and unrolled loops
/// around hundreds of those take compilers minutes. Loops that the module asks to unroll stay as they are.
/// For other devices than CPUs it must not be used: there, what unrolled loops index may be kept in
/// registers.
Words keeping_loops(const Words& module);

}  // namespace kf::vulkan
