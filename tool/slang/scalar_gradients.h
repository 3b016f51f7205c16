// A way round Slang's lost gradients of scalar parameters, in the text of modules.
#pragma once

#include "slang/insertions.h"
#include "slang/tokens.h"

namespace kf::gen {

/// Slang loses gradients (docs/decisions/0032):
/// - before 2026.16 those of vectors and matrices combined with a scalar (`a * v`, `v + a`, `v / a`), the
///   scalar's where it is a parameter and this is the first that a differentiable function does, and those
///   through a scalar that a loop before it has computed (shader-slang/slang#12095);
/// - in 2026.12, and since when and until when isn't known, all turns' but one of what a call has written
///   into a variable and a loop reads.
///
/// Gives what to put into the text of these tokens, so that in differentiable functions the same numbers have
/// another name: `var a = -(-a);` before the body, for parameters, and `a = -(-a);` after loops, for what
/// these use, and after calls, for what these may write. Lines and columns stay as they were. Types are known
/// by their names in this text, aliases included; a function where anything is unclear stays as it is.
[[nodiscard]] Insertions keep_scalar_gradients(const Tokens& tokens);

}  // namespace kf::gen
