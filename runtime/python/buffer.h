// kf.Buffer: a contiguous tensor that calls take as a buffer, and may only read unless it is writable.
#pragma once

#include "python/tensor.h"

namespace kf::python {

struct Buffer {
    using PythonClass = Buffer;

    Tensor tensor;
    bool writable = false;  ///< by calls
};

/// The buffer in `value`, or null when it isn't one.
const Buffer* as_buffer(py::handle value);

/// Refuses a buffer that calls may only read.
void check_writable_buffer(py::handle value, const Where& where);

}  // namespace kf::python
