// Specialization constants, which kernels have as link-time constants or keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slang/compiler.h"
#include "slang/kernel_source.h"

namespace kf::gen {

/// Where a text declares a specialization constant.
struct SpecializationPlace {
    std::string name;  ///< without its namespace
    std::int64_t line = 0;

    bool operator==(const SpecializationPlace&) const = default;
};

/// What declares specialization constants in words: `[SpecializationConstant] const int N = 4;`, with
/// `[vk::constant_id(0)]`, or with GLSL's `layout(constant_id = 0)`.
[[nodiscard]] std::vector<SpecializationPlace> specialization_constants(std::string_view text);

/// Slang leaves a specialization constant to whoever makes a pipeline of the SPIR-V, and knows none for CUDA.
/// Returns the text with `[SpecializationConstant] const int N = 4;` as `extern static const int N = 4;`,
/// whose value a spec can state; likewise for the other spellings. Those that are `kept` stay what they are,
/// with a number for the one that they have there. `file`: as KeptConstant has it. Lines stay.
[[nodiscard]] std::string with_link_constants(std::string_view text, std::string_view file = {},
                                              const std::vector<KeptConstant>& kept = {});

/// Notes what the code depends on of the constants that it keeps, and gives them their numbers in it. Error
/// "specialization-constant" for one that nobody knows: it would have its default value for ever.
[[nodiscard]] Diagnostics note_constants(const KernelSource& source, CompiledKernel& kernel);

/// Tells in an error of a kernel what it leaves to run time, if anything.
void note_kept(Diagnostic& error, const KernelSource& source);

}  // namespace kf::gen
