// Looks for a value in what a call is given.
#include "python/search.h"

#include <algorithm>
#include <unordered_map>

#include "python/attributes.h"
#include "python/recursion.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

class Search {
public:
    Search(const std::function<bool(py::handle)>& is_it, const std::vector<py::object>* fields)
        : is_it_(is_it), fields_(fields) {}

    bool finds(py::handle value) {
        if (is_it_(value)) return true;
        // Objects may lead back to themselves. Each is kept, so that no other comes to lie where it was.
        if (!seen_.try_emplace(value.ptr(), py::reinterpret_borrow<py::object>(value)).second) return false;
        const RecursionGuard guard(" in a value that is looked through");
        const py::object values = values_in(value);
        return values && std::ranges::any_of(values, [&](py::handle one) { return finds(one); });
    }

private:
    /// The values in a struct or a list, as a list of its own: looking at one may run code that changes what
    /// it is in. Null for what holds none, and for a list of numbers.
    [[nodiscard]] py::object values_in(py::handle value) const {
        const auto checked = [](PyObject* made) {
            if (made == nullptr) throw py::error_already_set();
            return py::reinterpret_steal<py::object>(made);
        };
        if (PyDict_Check(value.ptr()) != 0) return checked(PyDict_Values(value.ptr()));
        if (is_list(value)) {
            py::object values = checked(PySequence_Tuple(value.ptr()));
            if (py::len(values) == 0) return {};
            const py::object first = values[py::int_(0)];
            if (number_kind(first)) return {};
            return fields_ == nullptr && PyList_Check(value.ptr()) != 0 ? py::make_tuple(first) : values;
        }
        if (torch_kind(value.ptr()) != TorchKind::none || !is_struct_like(value)) return {};
        py::list values;
        const auto add = [&](py::handle name) {
            if (const py::object found = attribute_or_null(value, py::reinterpret_borrow<py::object>(name)))
                values.append(found);
        };
        if (fields_ != nullptr) {
            for (const py::object& name : *fields_) add(name);
            return values;
        }
        py::object names = named_fields(value);
        if (names.is_none()) names = py::getattr(value, "__dataclass_fields__", py::none());
        if (names.is_none()) names = py::getattr(value, "__dict__", py::none());
        if (names.is_none()) return {};
        for (const py::handle name : py::list(names)) add(name);
        return values;
    }

    const std::function<bool(py::handle)>& is_it_;
    const std::vector<py::object>* fields_;
    std::unordered_map<PyObject*, py::object> seen_;
};

}  // namespace

bool contains(py::handle value, const std::function<bool(py::handle)>& is_it,
              const std::vector<py::object>* fields) {
    return Search(is_it, fields).finds(value);
}

}  // namespace kf::python
