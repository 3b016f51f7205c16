// Parts of kf.Tensor: views (indexing, transposing, broadcasting), and operators.
#pragma once

#include "python/tensor.h"

namespace kf::python {

void bind_views(py::class_<Tensor>& type);
void bind_operators(py::class_<Tensor>& type);

}  // namespace kf::python
