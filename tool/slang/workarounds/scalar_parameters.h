// A way round Slang's lost gradients of scalar parameters.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode widens the scalar of `a * v` beside the definition of `a`, not beside its use: where
/// that is the first thing that a function does with its parameter, it loses the gradient. Parameters get
/// another name: see scalar_renames.h.
extern const Workaround scalar_parameters;

}  // namespace kf::gen
