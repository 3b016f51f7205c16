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

/// Returns what `find` returned when it was first asked, which is kept forever in `known`, a static that
/// begins as null: finding may run Python and let other threads in, which would wait, with the GIL, for a
/// static that is being initialised. Needs the GIL.
template <class Find>
py::handle found_once(PyObject*& known, const Find& find) {
    if (known != nullptr) return known;
    py::object found = find();
    if (known == nullptr) known = found.release().ptr();
    return known;
}

/// Returns a contextvars.ContextVar, made as found_once() does.
inline PyObject* context_variable(PyObject*& known, const char* name) {
    return found_once(known,
                      [&] {
                          auto made = py::reinterpret_steal<py::object>(PyContextVar_New(name, nullptr));
                          if (!made) throw py::error_already_set();
                          return made;
                      })
        .ptr();
}

}  // namespace kf::python
