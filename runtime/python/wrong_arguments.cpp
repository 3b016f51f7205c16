// Refuses wrong arguments of what pybind11 binds, in our words.
#include "python/wrong_arguments.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "python/errors.h"

namespace kf::python {
namespace {

using Dispatch = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

/// What calls the bound functions: pybind11's own. One for all of them.
Dispatch& dispatcher() {
    static Dispatch own = nullptr;
    return own;
}

/// "Tensor.zeros", by what pybind11 passes as the function's `self`. Never destroyed.
std::unordered_map<PyObject*, std::string>& names() {
    static auto& known = *new std::unordered_map<PyObject*, std::string>;
    return known;
}

/// Returns "shape, dtype=None, *, device=None" of "shape: object, dtype: object = None, *, device: …".
std::string without_types(const std::string& parameters) {
    std::string result;
    int depth = 0;
    bool in_type = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const char c = parameters[i];
        if (c == '[' || c == '(') ++depth;
        if (c == ']' || c == ')') --depth;
        if (depth == 0 && c == ':') in_type = true;
        if (depth == 0 && c == ',') in_type = false;
        if (depth == 0 && in_type && parameters.compare(i, 3, " = ") == 0) {
            in_type = false;
            result += '=';
            i += 2;
            continue;
        }
        if (!in_type) result += c;
    }
    return result;
}

/// What pybind11 says, in our words; empty where it says something else.
std::string reworded(const std::string& text) {
    const std::size_t first = text.find("\n    1. ");
    const std::size_t given = text.find("\nInvoked with: ");
    if (text.find("(): incompatible ") == std::string::npos || first == std::string::npos) return {};
    const std::size_t begin = text.find('(', first) + 1;
    const std::size_t line = text.find('\n', first + 1);
    const std::size_t end = text.rfind(')', std::min(text.find(") -> ", begin), line));
    std::string parameters = without_types(text.substr(begin, end - begin));
    const bool is_method = parameters.starts_with("self");
    if (is_method) parameters.erase(0, parameters.starts_with("self, ") ? 6 : 4);
    std::string result = "it takes (" + parameters + ")";
    if (is_method || given == std::string::npos) return result;
    std::string values = text.substr(given + 15);
    values.resize(std::min(values.size(), values.find("\n\nDid you forget")));
    constexpr std::size_t most = 120;
    if (values.size() > most) values = values.substr(0, most) + "…";
    return result + ", not (" + values + ")";
}

PyObject* dispatch(PyObject* self, PyObject* const* values, std::size_t count, PyObject* keywords) {
    PyObject* const result = dispatcher()(self, values, count, keywords);
    if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
    return guarded([&]() -> py::object {
        py::error_already_set error;
        const bool is_plain = error.type().ptr() == PyExc_TypeError;
        const std::string text = is_plain ? reworded(std::string(py::str(error.value()))) : std::string();
        if (text.empty()) throw error;
        refuse(ErrorCode::type_mismatch, {names().at(self), {}}, text);
    });
}

/// Takes a function as a module or a class has it.
void reword(py::handle found, const std::string& name) {
    py::object function = py::reinterpret_borrow<py::object>(found);
    if (PyInstanceMethod_Check(found.ptr()) != 0) {
        function = py::reinterpret_borrow<py::object>(PyInstanceMethod_GET_FUNCTION(found.ptr()));
    } else if (Py_TYPE(found.ptr()) == &PyStaticMethod_Type) {
        function = found.attr("__func__");
    }
    if (PyCFunction_Check(function.ptr()) == 0) return;
    auto* const object = reinterpret_cast<PyCFunctionObject*>(function.ptr());
    PyObject* const self = PyCFunction_GET_SELF(function.ptr());
    if (self == nullptr || object->m_ml->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return;
    // What pybind11 has as `self` is a record of its own; Python's own methods have none of that.
    if (std::string_view(Py_TYPE(self)->tp_name).find("pybind11") == std::string_view::npos) return;
    const auto own = reinterpret_cast<Dispatch>(reinterpret_cast<void (*)()>(object->m_ml->ml_meth));
    if (own == &dispatch) return;
    if (dispatcher() == nullptr) dispatcher() = own;
    if (own != dispatcher()) return;
    names()[self] = name;
    object->m_ml->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&dispatch));
}

/// Says what makes an object of a class that has no constructor.
void refuse_constructor(py::handle type, const std::string& name) {
    std::string makers;
    for (const auto& [member, value] : py::dict(type.attr("__dict__"))) {
        if (Py_TYPE(value.ptr()) != &PyStaticMethod_Type) continue;
        makers += (makers.empty() ? "" : ", ") + name + "." + std::string(py::str(member)) + "()";
    }
    const std::string text = "it can't be made by its class" + (makers.empty() ? "" : ": " + makers + " do");
    type.attr("__init__") = py::cpp_function(
        [name, text](const py::object&, const py::args&, const py::kwargs&) {
            refuse(ErrorCode::type_mismatch, {name, {}}, text);
        },
        py::is_method(type), py::name("refuse"));  // pybind11 looks for its own in an "__init__"
}

}  // namespace

void reword_refusals(py::module_& module) {
    for (const auto& [key, value] : py::dict(module.attr("__dict__"))) {
        const std::string name = py::str(key);
        reword(value, name);
        if (PyType_Check(value.ptr()) == 0) continue;
        if (py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr())) == nullptr) continue;
        const py::dict members(value.attr("__dict__"));
        for (const auto& [member, function] : members) {
            const std::string own = py::str(member);
            reword(function, own == "__init__" ? name : name + "." + own);
        }
        // pybind11's own, of classes without one.
        PyObject* const constructor = PyDict_GetItemString(members.ptr(), "__init__");
        if (constructor == nullptr || Py_IS_TYPE(constructor, &PyWrapperDescr_Type))
            refuse_constructor(value, name);
    }
}

}  // namespace kf::python
