// Floating scalars under another name, in the text of modules.
#pragma once

#include <cstdint>

#include "slang/workarounds/module_text.h"

namespace kf::gen {

enum class RenamedScalars : std::uint8_t {
    parameters,    ///< `var a = -(-a);` before the body, which becomes a block of its own
    behind_loops,  ///< `a = -(-a);` for what they use
    behind_calls,  ///< the same for what they may write, or before the loops that read it; vectors too
};

/// Gives the same numbers another name in differentiable functions (docs/decisions/0032): negating twice is
/// exact, and an instruction of its own. Types are known by their names in this text, aliases included; a
/// function where anything is unclear stays as it is.
void rename_scalars(ModuleText& text, RenamedScalars which);

}  // namespace kf::gen
