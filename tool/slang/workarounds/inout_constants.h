// A way round Slang's wrong gradients of inout parameters that end as a constant.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode lets the gradient of an `inout` scalar or vector that ends as a constant flow on into
/// its first value. One that is assigned to gets a copy at the end of its function: see value_copies.h.
extern const Workaround inout_constants;

}  // namespace kf::gen
