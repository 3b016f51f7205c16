// Looks for a value in what a call is given.
#include "python/search.h"

#include <algorithm>

#include "python/attributes.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

/// The values in a struct or a list, as a list of its own: looking at one may run code that changes what it
/// is in. Null for what holds none, and for a list of numbers.
py::object values_in(py::handle value) {
    const auto checked = [](PyObject* made) {
        if (made == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(made);
    };
    if (PyDict_Check(value.ptr()) != 0) return checked(PyDict_Values(value.ptr()));
    if (is_list(value)) {
        py::object values = checked(PySequence_Tuple(value.ptr()));
        const bool is_of_numbers = py::len(values) > 0 && number_kind(py::object(values[py::int_(0)]));
        return is_of_numbers ? py::object() : values;
    }
    if (torch_kind(value.ptr()) != TorchKind::none || !is_struct_like(value)) return {};
    py::object names = named_fields(value);
    if (names.is_none()) names = py::getattr(value, "__dataclass_fields__", py::none());
    if (names.is_none()) names = py::getattr(value, "__dict__", py::none());
    if (names.is_none()) return {};
    py::list values;
    for (const py::handle name : names) {
        if (const py::object found = attribute_or_null(value, py::reinterpret_borrow<py::object>(name)))
            values.append(found);
    }
    return values;
}

}  // namespace

bool contains(py::handle value, const std::function<bool(py::handle)>& is_it, int depth) {
    if (is_it(value)) return true;
    const py::object values = depth > 0 ? values_in(value) : py::object();
    return values &&
           std::ranges::any_of(values, [&](py::handle one) { return contains(one, is_it, depth - 1); });
}

}  // namespace kf::python
