// A way round Slang's wrong gradients of nested loops.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode keeps what loops compute in arrays with one dimension a loop, whose extents are in
/// the opposite order of its indices: an inner loop's count must fit the outer one's [MaxIters], and the
/// other way round. All loops of a nest get the largest of their limits: see raise_loop_limits().
extern const Workaround nested_loops;

}  // namespace kf::gen
