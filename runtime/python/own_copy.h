// Copies of what callers may change after they have given it.
#pragma once

#include "python/common.h"

namespace kf::python {

/// Copies lists, dicts and NumPy arrays, and what is in them and in tuples; anything else is returned itself:
/// numbers don't change, and tensors, textures and objects of classes are known to be shared.
py::object own_copy(py::handle value);

}  // namespace kf::python
