// Python objects that have fields.
#include "python/struct_fields.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/describe.h"
#include "python/attributes.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/tensor.h"
#include "python/texture.h"

namespace kf::python {
namespace {

using manifest::ParameterTree;

/// The names of the fields that the value says it has; nothing where it doesn't say.
std::optional<std::vector<std::string>> declared_fields(py::handle value) {
    py::object names = py::none();
    if (PyDict_Check(value.ptr())) {
        names = py::reinterpret_borrow<py::object>(value).attr("keys")();
    } else if (has_dtype_fields(value)) {
        names = value.attr("dtype").attr("names");
    } else {
        names = named_fields(value);
        if (names.is_none() && py::hasattr(value, "__dataclass_fields__"))
            names = value.attr("__dataclass_fields__");
    }
    if (names.is_none()) return std::nullopt;
    std::vector<std::string> list;
    for (const auto& name : names) list.emplace_back(utf8_of(py::str(name)));
    return list;
}

/// A key of a dict, else an attribute; null where there is none. `name` is interned.
py::object find_by(py::handle value, const py::object& name, bool keyed) {
    if (PyDict_CheckExact(value.ptr())) {
        PyObject* const found = PyDict_GetItemWithError(value.ptr(), name.ptr());
        if (found == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
        return py::reinterpret_borrow<py::object>(found);
    }
    if (PyDict_Check(value.ptr())) {
        const int there = PyDict_Contains(value.ptr(), name.ptr());
        if (there < 0) throw py::error_already_set();
        return there == 1 ? py::object(value[name]) : py::object();
    }
    if (keyed) {
        const bool there = py::cast<bool>(value.attr("dtype").attr("names").attr("__contains__")(name));
        return there ? py::object(value[name]) : py::object();
    }
    return attribute_or_null(value, name);
}

bool is_field(const StructView& view, py::handle name) {
    return std::ranges::any_of(view.fields, [&](const StructView::Field& field) {
        return field.name.is(name) || field.attribute.is(name) || field.name.equal(name) ||
               field.attribute.equal(name);
    });
}

/// Whether each key of a plain dict is a field. Runs no code of the keys'.
bool has_fields_only(PyObject* dict, const StructView& view) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    while (PyDict_Next(dict, &position, &key, nullptr) != 0)
        if (!PyUnicode_CheckExact(key) || !is_field(view, key)) return false;
    return true;
}

/// Dicts may say what they are: {"_type": "Ray", ...}.
bool names_type(py::handle name, const ParameterTree& structure) {
    return name && PyUnicode_Check(name.ptr()) != 0 && utf8_of(name) == structure.type;
}

}  // namespace

py::object named_fields(py::handle value) {
    const py::object names = py::getattr(value, "_fields", py::none());
    return PyTuple_Check(names.ptr()) != 0 ? names : py::none();
}

bool has_dtype_fields(py::handle value) {
    if (!is_numpy_scalar(value) && !py::isinstance<py::array>(value)) return false;
    return !py::object(value.attr("dtype").attr("fields")).is_none();
}

bool is_struct_like(py::handle value) {
    PyObject* const object = value.ptr();
    if (PyDict_CheckExact(object)) return true;
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyList_CheckExact(object) ||
        PyTuple_CheckExact(object))
        return false;
    if (has_dtype_fields(value))
        return !py::isinstance<py::array>(value) || py::cast<py::array>(value).ndim() == 0;
    const bool sequence = PyList_Check(object) || PyRange_Check(object) ||
                          (PyTuple_Check(object) && named_fields(value).is_none());
    return !sequence && !number_kind(value) && PyUnicode_Check(object) == 0 &&
           !py::isinstance<py::array>(value) && as_tensor(value) == nullptr &&
           as_differentiable(value) == nullptr && as_texture(value) == nullptr &&
           as_sampler(value) == nullptr;
}

bool has_field_of(py::handle value, const std::string& name) {
    if (!is_struct_like(value)) return false;
    if (PyDict_Check(value.ptr()) != 0) return py::reinterpret_borrow<py::dict>(value).contains(name);
    if (!has_dtype_fields(value)) return py::hasattr(value, name.c_str());
    return py::cast<bool>(value.attr("dtype").attr("names").attr("__contains__")(name));
}

py::object find_field(py::handle value, const StructView& view, std::size_t field) {
    const auto& [name, attribute] = view.fields[field];
    const bool keyed = PyDict_Check(value.ptr()) != 0 || has_dtype_fields(value);
    // A class may have an attribute of the plain name that is no field.
    py::object first = find_by(value, keyed ? name : attribute, keyed);
    return first || name.is(attribute) ? first : find_by(value, keyed ? attribute : name, keyed);
}

std::string other_field(py::handle value, const ParameterTree& structure, const StructView& view) {
    if (PyDict_CheckExact(value.ptr()) && has_fields_only(value.ptr(), view)) return {};
    const auto declared = declared_fields(value);
    if (!declared) return {};
    const bool keyed = PyDict_Check(value.ptr()) != 0 || has_dtype_fields(value);
    for (const std::string& name : *declared) {
        const py::str key(name);
        if (is_field(view, key)) continue;
        const py::object field = find_by(value, key, keyed);
        if (name == "_type" && names_type(field, structure)) continue;
        return "'" + name + "'" +
               (field ? " = " + shown(field) + " (" + detail::with_article(type_name(field)) + ")" : "");
    }
    return {};
}

}  // namespace kf::python
