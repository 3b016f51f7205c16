// kf.Batchable: a list or an array of which every call gets one element.
#pragma once

#include "python/common.h"

namespace kf::python {

/// What stands for a tensor, whatever the parameter's type: a list is never one vector or array.
struct Batchable {
    using PythonClass = Batchable;

    explicit Batchable(py::handle value);

    py::object value;
};

/// Null when `value` isn't one.
const Batchable* as_batchable(py::handle value);

/// Whether the value could be that: a tensor, an array, a list, or what is like one.
bool is_batchable_like(py::handle value);

}  // namespace kf::python
