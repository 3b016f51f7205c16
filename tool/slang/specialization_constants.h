// Specialization constants, which kernels have as link-time constants.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Slang leaves a specialization constant to whoever makes a pipeline of the SPIR-V, and knows none for CUDA.
/// Returns the text with `[SpecializationConstant] const int N = 4;` as `extern static const int N = 4;`,
/// whose value a spec can state; the same of `[vk::constant_id(0)]`, and of GLSL's `layout(constant_id = 0)`.
/// Lines and columns stay.
[[nodiscard]] std::string with_link_constants(std::string_view text);

}  // namespace kf::gen
