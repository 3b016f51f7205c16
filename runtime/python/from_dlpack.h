// kf.Tensor.from_dlpack() and kf.Buffer.from_dlpack().
#pragma once

#include "python/buffer.h"

namespace kf::python {

/// Takes what another library has, where it lies if that is the device's memory; else copies it.
Tensor tensor_from_dlpack(py::handle x, py::handle device, py::handle copy);
Buffer buffer_from_dlpack(py::handle x, bool writable, py::handle device, py::handle copy);

}  // namespace kf::python
