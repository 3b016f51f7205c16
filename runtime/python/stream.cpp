// The stream= argument of calls.
#include "python/stream.h"

#include "python/errors.h"

namespace kf::python {
namespace {

bool is_number(py::handle value) { return PyLong_Check(value.ptr()) != 0 && PyBool_Check(value.ptr()) == 0; }

/// The number that `value` is, or says; null where it has none.
py::object handle_of(py::handle value) {
    if (is_number(value)) {
        return py::reinterpret_borrow<py::object>(value);
    }
    if (py::hasattr(value, "cuda_stream")) {
        return value.attr("cuda_stream");
    }
    if (py::hasattr(value, "__cuda_stream__")) {
        const py::object said = value.attr("__cuda_stream__")();  // (version, handle)
        if (py::isinstance<py::tuple>(said) && py::len(said) == 2) {
            return py::reinterpret_borrow<py::tuple>(said)[1];
        }
    }
    return {};
}

}  // namespace

void* parse_stream(py::handle value, const Where& where) {
    const py::object handle = handle_of(value);
    if (!handle || !is_number(handle)) {
        refuse(ErrorCode::type_mismatch, where,
               "a CUDA stream is needed: its handle (an int), or an object that has it as cuda_stream or "
               "__cuda_stream__(), not " +
                   shown(value));
    }
    void* const stream = PyLong_AsVoidPtr(handle.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse(ErrorCode::value_range, where, shown(handle) + " is no stream's handle");
    }
    return stream;
}

}  // namespace kf::python
