// The views of kf.Tensor: indexing, transposing, broadcasting.
#pragma once

#include "python/tensor.h"

namespace kf::python {

void bind_views(py::class_<Tensor>& type);

}  // namespace kf::python
