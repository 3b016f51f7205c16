// Global parameters of modules, which the host sets, made into what kernels set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slang/kernel_source.h"

namespace kf::gen {

/// A global that a host would have to fill, and that is declared so that it can be changed in place:
/// `uniform float4 tint;`, `float4 tint;`, `ParameterBlock<Scene> scene;`, `StructuredBuffer<float> table;`,
/// or a member of a cbuffer.
struct GlobalPlace {
    std::int64_t line = 0;  ///< of its name, from 1
    std::int64_t column = 0;
    std::string id;  ///< "tint_1_0123abcd": no other global's, of any file

    bool operator==(const GlobalPlace&) const = default;
};

[[nodiscard]] std::vector<GlobalPlace> global_places(std::string_view text);

/// Returns the text in which those of `forms` are no parameters. One that is a variable becomes static, of
/// the type that is in the block or buffer, with a function behind it that sets it, which kernels declare
/// `extern`; of one that is a property, the getter calls a function that kernels `export`. Lines stay, and
/// columns but on theirs.
[[nodiscard]] std::string with_settable_globals(std::string_view text, const std::vector<GlobalForm>& forms);

}  // namespace kf::gen
