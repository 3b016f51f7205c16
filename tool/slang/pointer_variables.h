// Pointers to buffers that kernels keep in variables, in SPIR-V.
#pragma once

#include <string>

namespace kf::gen {

/// Has each load from a variable that ever holds one buffer, beside nothing, give that buffer: what Slang
/// keeps for a backward pass is null where a loop has ended, and NVIDIA's Vulkan driver (580) then reads such
/// a pointer's element 0 whatever the index. False when `code` is no well-formed SPIR-V (it is then left as
/// it was).
[[nodiscard]] bool settle_pointer_variables(std::string& code);

}  // namespace kf::gen
