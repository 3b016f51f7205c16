// A way round Slang's wrong gradients of `while`.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode loses the last iteration of a `while (condition)` that is left by break or return,
/// and crashes where it has a continue, or holds another loop. It becomes a `for`: see replace_whiles().
extern const Workaround while_loops;

}  // namespace kf::gen
