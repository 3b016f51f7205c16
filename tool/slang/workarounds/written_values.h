// A way round Slang's wrong gradients of structs and arrays that calls write.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode stores, instead of adding up, what flows back into a variable that a call has
/// written, from the last of the blocks that read it: where that block is in a loop, all iterations'
/// gradients but one are lost, and where a condition skips it, the gradient of an earlier iteration stays.
/// What a call has written, or a part of, gets a copy behind it: see value_copies.h. Scalars and vectors have
/// written_scalars.h.
extern const Workaround written_values;

}  // namespace kf::gen
