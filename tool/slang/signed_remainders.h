// Remainders of signed integers, in SPIR-V.
#pragma once

#include <string>

namespace kf::gen {

/// Writes every OpSRem as what is left of a quotient. Slang makes it of `%`, which takes the sign of its
/// first operand as in C; Vulkan leaves OpSRem undefined where an operand is negative, and NVIDIA's driver
/// gives other numbers there. False when `code` is no well-formed SPIR-V (it is then left as it was).
[[nodiscard]] bool expand_signed_remainders(std::string& code);

}  // namespace kf::gen
