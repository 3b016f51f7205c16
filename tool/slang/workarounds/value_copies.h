// Copies of variables by a call, in the text of modules.
#pragma once

#include <cstdint>
#include <string_view>

#include "slang/workarounds/module_text.h"

namespace kf::gen {

enum class CopiedValues : std::uint8_t {
    behind_calls,  ///< that write it, a part of it, or its object
    at_ends,       ///< of functions that assign to their inout parameter
};

/// Puts `p = own(p, 1);` into differentiable functions (docs/decisions/0032): what a call returns is a value
/// as any other. Those behind calls are for structs and arrays, and in functions with loops.
void copy_values(ModuleText& text, CopiedValues which);

/// Tells whether a function of this name is one that copy_values() adds: it gives its argument back.
[[nodiscard]] bool is_copy_of_value(std::string_view function);

}  // namespace kf::gen
