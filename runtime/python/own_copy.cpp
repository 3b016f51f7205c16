// Copies lists, dicts and arrays.
#include "python/own_copy.h"

#include "python/recursion.h"

namespace kf::python {

py::object own_copy(py::handle value) {
    const RecursionGuard guard(" in a value that is kept");
    if (py::isinstance<py::array>(value)) return value.attr("copy")();
    if (PyDict_CheckExact(value.ptr()) != 0) {
        py::dict result;
        // A copy: hashing and comparing its keys may run code that changes it.
        const auto fields = py::reinterpret_steal<py::dict>(PyDict_Copy(value.ptr()));
        if (!fields) throw py::error_already_set();
        for (const auto& [key, field] : fields) result[key] = own_copy(field);
        return result;
    }
    const bool is_list = PyList_CheckExact(value.ptr()) != 0;
    if (!is_list && PyTuple_CheckExact(value.ptr()) == 0) return py::reinterpret_borrow<py::object>(value);
    py::list items;
    for (const py::handle& item : py::tuple(py::reinterpret_borrow<py::object>(value)))
        items.append(own_copy(item));
    return is_list ? py::object(items) : py::object(py::tuple(items));
}

}  // namespace kf::python
