// Has Slang's optimiser of SPIR-V compute with floats exactly, or not at all.
#pragma once

#include <slang.h>

#include <filesystem>
#include <map>
#include <string>

namespace kf::gen {

/// The optimiser, SPIRV-Tools' in Slang's library of glslang, simplifies floats as if they were real numbers:
/// x / 41 becomes a product with the rounded reciprocal, (a + b) - a becomes b, and v / v a constant of a
/// wrong type. It leaves arithmetic alone that is decorated with NoContraction. All is, while it is
/// optimised, and only then: drivers may contract. Call this before the session compiles anything.
void keep_floats_exact(slang::IGlobalSession& global);

/// SPIR-V whose arithmetic drivers may not contract or simplify either: all of a kernel's, as Slang drops
/// `precise` on its way there.
[[nodiscard]] std::string without_contraction(const std::string& code);

/// Whether a text, by its path, has a variable that is `precise`.
[[nodiscard]] bool names_precise(const std::map<std::filesystem::path, std::string>& texts);

}  // namespace kf::gen
