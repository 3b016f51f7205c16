// A way round Slang's wrong gradients of scalars that a loop has computed.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode widens the scalar of `a * v` beside the definition of `a`, not beside its use: where
/// a loop defines it, what comes after the loop uses another iteration's value. Behind loops scalars get
/// another name: see scalar_renames.h.
extern const Workaround loop_scalars;

}  // namespace kf::gen
