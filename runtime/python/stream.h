// The stream= argument of calls.
#pragma once

#include "python/common.h"

namespace kf::python {

/// The handle of a CUDA stream: of an int, of what has `cuda_stream` (PyTorch) or `__cuda_stream__()`
/// (cuda.core). Throws ArgumentError for anything else.
void* parse_stream(py::handle value, const Where& where);

}  // namespace kf::python
