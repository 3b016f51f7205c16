// A way round Slang's wrong gradients of scalars and vectors that calls write.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// The fault of written_values.h. Scalars, vectors and matrices get another name behind the call, or before
/// the loops that read them: see scalar_renames.h.
extern const Workaround written_scalars;

}  // namespace kf::gen
