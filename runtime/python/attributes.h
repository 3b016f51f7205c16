// Attributes that an object may have.
#pragma once

#include "python/common.h"

namespace kf::python {

/// Returns an attribute; null where there is none. It is asked for once, and what else than that it is
/// missing a property raises is thrown.
inline py::object attribute_or_null(py::handle value, py::handle name) {
    PyObject* const found = PyObject_GetAttr(value.ptr(), name.ptr());
    if (found == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw py::error_already_set();
        PyErr_Clear();
    }
    return py::reinterpret_steal<py::object>(found);
}

}  // namespace kf::python
