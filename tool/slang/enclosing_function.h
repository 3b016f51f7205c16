// Which function a place in a module's text is in.
#pragma once

#include <cstddef>
#include <string>

#include "slang/tokens.h"

namespace kf::gen {

struct EnclosingFunction {
    std::string name;  ///< its last one; empty where there is none, as in a property
    /// Whether Slang derives its derivative from its body: it is marked as differentiable, by a macro of the
    /// text at the most, and names no backward derivative. True where there is no name.
    bool differentiated = true;
};

/// Finds the function around token number `at`, by what stands before the braces around it.
[[nodiscard]] EnclosingFunction enclosing_function(const Tokens& tokens, std::size_t at);

}  // namespace kf::gen
