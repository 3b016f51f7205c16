// Tensors of ours for other libraries: DLPack and __cuda_array_interface__.
#pragma once

#include "python/buffer.h"

namespace kf::python {

/// Adds __dlpack__(), __dlpack_device__() and __cuda_array_interface__ to a class.
void bind_exports(py::class_<Tensor>& type);
void bind_exports(py::class_<Buffer>& type);

}  // namespace kf::python
