// Python's own floats, ints and bools as bytes, without errors.
#pragma once

#include <kf/types.h>

#include <cstddef>

#include "python/common.h"

namespace kf::python {

/// Writes what is exactly a float, int or bool as `scalar`, as pack_number() does. Returns false, with
/// nothing raised, where that refuses it.
bool pack_exact_number(PyObject* value, ScalarType scalar, std::byte* target);

}  // namespace kf::python
