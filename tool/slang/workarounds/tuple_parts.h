// A way round stores to parts of a tuple's elements.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang crashes on `t._1.z = a`, `t` being a tuple, in a backward derivative, or loses gradients.
extern const Workaround tuple_parts;

/// Changes statements of differentiable functions that store to parts of tuples' elements, or may do so by a
/// call: these change a copy, which is stored as a whole.
void store_tuple_elements(ModuleText& module);

}  // namespace kf::gen
