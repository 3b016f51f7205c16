// A way round structs of imported modules whose gradients are lost.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang takes the derivative of a struct's field for 0 in other modules than the struct's, where the field
/// is a struct with a constructor and a part without a gradient, and the outer one has a constructor, too. A
/// member that is differentiable, of the inner one, keeps it from that.
extern const Workaround constructed_structs;

}  // namespace kf::gen
