// Objects of the extension stay of the class that made them.
#include "python/errors.h"

namespace kf::python {
namespace {

PyObject* get_class(PyObject* self, void* /*unused*/) {
    return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

int refuse_class(PyObject* self, PyObject* value, void* /*unused*/) {
    const auto refused = guarded([&]() -> py::object {
        refuse(ErrorCode::type_mismatch, {Py_TYPE(self)->tp_name, "__class__"},
               "its objects stay of the class that made them, and aren't made " +
                   (value != nullptr && PyType_Check(value) != 0
                        ? "objects of " + std::string(reinterpret_cast<PyTypeObject*>(value)->tp_name)
                        : "anything else"));
    });
    return refused == nullptr ? -1 : 0;
}

}  // namespace

/// Python takes all of pybind11's classes for alike, and would let each take the memory of another for its
/// own.
void fix_classes(py::module_& module) {
    static PyGetSetDef attribute{"__class__", get_class, refuse_class, nullptr, nullptr};
    auto* const meta = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().default_metaclass);
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(PyModule_GetDict(module.ptr()))) {
        if (Py_TYPE(value.ptr()) != meta) continue;
        // Setting the class's attribute would set the class's own class.
        auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
        const auto descriptor = py::reinterpret_steal<py::object>(PyDescr_NewGetSet(type, &attribute));
        if (!descriptor || PyDict_SetItemString(type->tp_dict, "__class__", descriptor.ptr()) != 0)
            throw py::error_already_set();
        PyType_Modified(type);
    }
}

}  // namespace kf::python
