// Refuses pickle.
#include "python/pickling.h"

namespace kf::python {

void refuse_pickling(py::module_& module) {
    const auto refuse = [](const py::object& self) -> py::object {
        throw py::type_error("cannot pickle '" + std::string(Py_TYPE(self.ptr())->tp_name) + "' object");
    };
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
        const py::handle object = value;
        if (PyType_Check(object.ptr()) == 0) continue;
        auto* const type = reinterpret_cast<PyTypeObject*>(object.ptr());
        if (py::detail::get_type_info(type) == nullptr) continue;
        object.attr("__reduce__") = py::cpp_function(refuse, py::is_method(object), py::name("__reduce__"));
    }
}

}  // namespace kf::python
