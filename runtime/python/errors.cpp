// kf::Error and Python's exceptions.
#include "python/errors.h"
#include "core/describe.h"

#include "python/tensor.h"
#include "python/texture.h"
#include "python/torch_tensors.h"

namespace kf::python {
namespace {

/// The exception types; made once, never destroyed, since a late error may still need them.
struct ExceptionTypes {
    PyObject* error = nullptr;
    PyObject* argument = nullptr;
    PyObject* argument_type = nullptr;
    PyObject* argument_index = nullptr;
    PyObject* argument_attribute = nullptr;
    PyObject* argument_runtime = nullptr;
    PyObject* artifact = nullptr;
    PyObject* device = nullptr;
};

ExceptionTypes& exception_types() {
    static ExceptionTypes types;
    return types;
}

PyObject* make_type(py::module_& module, const char* name, const char* doc, const py::tuple& bases) {
    const std::string qualified = std::string("kernelfunctions.") + name;
    py::dict members;
    members["code"] = py::str("");
    members["native_code"] = py::int_(0);
    PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), members.ptr());
    if (type == nullptr) throw py::error_already_set();
    module.attr(name) = py::handle(type);
    return type;
}

/// The class of the errors that arguments of such a kind raise.
PyObject* type_of_argument_error(ErrorCode code) {
    const ExceptionTypes& types = exception_types();
    switch (code) {
        case ErrorCode::type_mismatch:
        case ErrorCode::rank_mismatch:
        case ErrorCode::missing_argument:
        case ErrorCode::no_overload:
        case ErrorCode::unknown_name: return types.argument_type;
        case ErrorCode::index_range: return types.argument_index;
        case ErrorCode::aliasing:
        case ErrorCode::not_differentiable:
        case ErrorCode::no_deterministic_kernel:
        case ErrorCode::device_mismatch: return types.argument_runtime;
        default: return types.argument;
    }
}

PyObject* type_for(const Error& error) {
    const ExceptionTypes& types = exception_types();
    if (dynamic_cast<const ArtifactError*>(&error) != nullptr) return types.artifact;
    if (dynamic_cast<const DeviceError*>(&error) != nullptr) return types.device;
    if (dynamic_cast<const ArgumentError*>(&error) == nullptr) return types.error;
    return type_of_argument_error(error.code());
}

/// Returns Python's error of a class.
py::object make_error(py::handle type, std::string_view text, std::string_view id, std::int64_t native_code) {
    const auto message = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    py::object instance = type(message);
    instance.attr("code") = py::str(id.data(), id.size());
    instance.attr("native_code") = py::int_(native_code);
    return instance;
}

void set_python_error(const Error& error) {
    PyObject* const type = type_for(error);
    const py::object instance = make_error(type, error.what(), error_id(error.code()), error.native_code());
    PyErr_SetObject(type, instance.ptr());
}

/// Returns the error of an id, for the package's own Python code to raise.
py::object error_of_id(const std::string& id, const std::string& text) {
    for (int code = 0; code <= static_cast<int>(ErrorCode::graph_context); ++code) {
        if (error_id(ErrorCode(code)) == id)
            return make_error(type_of_argument_error(ErrorCode(code)), text, id, 0);
    }
    throw py::key_error(id);
}

}  // namespace

void set_python_error() noexcept {
    try {
        try {
            throw;
        } catch (const Error& error) {
            set_python_error(error);
        }
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const py::builtin_exception& error) {
        error.set_error();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

std::string prefix(const Where& where) {
    std::string text(where.owner);
    if (!where.argument.empty()) text.append(": argument '").append(where.argument).append("'");
    return text + ": ";
}

std::string_view utf8_of(py::handle text) {
    if (PyUnicode_Check(text.ptr()) == 0)
        throw ArgumentError(ErrorCode::type_mismatch, "a name is needed, which is a str, not " + shown(text));
    Py_ssize_t size = 0;
    const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 != nullptr) return {utf8, static_cast<std::size_t>(size)};
    PyErr_Clear();
    throw ArgumentError(ErrorCode::unknown_name,
                        shown(text) + " has half of a surrogate pair, which is no character");
}

std::string path_of(py::handle path, const Where& where) {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) {
        const bool is_text = PyErr_ExceptionMatches(PyExc_ValueError) != 0;
        if (!is_text && PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
        PyErr_Clear();
        refuse(is_text ? ErrorCode::unknown_name : ErrorCode::type_mismatch, where,
               is_text ? "no file is called " + shown(path) : "a path is needed, not " + shown(path));
    }
    return py::reinterpret_steal<py::bytes>(bytes);
}

void refuse(ErrorCode code, const Where& where, const std::string& message) {
    throw ArgumentError(code, prefix(where) + message);
}

/// Describes a large array by its type and shape, not by its first numbers.
std::string array_text(const py::array& array) {
    std::string shape;
    for (py::ssize_t i = 0; i < array.ndim(); ++i)
        shape += (i == 0 ? "" : ", ") + std::to_string(array.shape(i));
    const bool structs = !py::object(array.dtype().attr("names")).is_none();
    const auto dtype = std::string(py::str(static_cast<py::handle>(array.dtype())));
    return (structs ? "an array of structs" : detail::with_article(dtype) + " array") + " of shape [" +
           shape + "]";
}

std::string shown(py::handle value) {
    // Reading a tensor would wait for the device.
    if (const Tensor* tensor = as_tensor(value)) return detail::with_article(describe(*tensor));
    if (const Texture* texture = as_texture(value)) return detail::with_article(describe(*texture));
    if (torch_kind(value.ptr()) != TorchKind::none) return shown_torch(value);
    constexpr std::size_t limit = 60;
    const auto text = py::reinterpret_steal<py::object>(PyObject_Repr(value.ptr()));
    Py_ssize_t size = 0;
    const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (utf8 == nullptr) {
        PyErr_Clear();
        return detail::with_article(type_name(value));
    }
    std::string result(utf8, static_cast<std::size_t>(size));
    if (py::isinstance<py::array>(value) && (result.size() > limit || result.find('\n') != result.npos))
        return array_text(py::reinterpret_borrow<py::array>(value));
    if (result.size() > limit) {
        std::size_t end = limit - 3;
        while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xc0U) == 0x80U) --end;
        result = result.substr(0, end) + "...";
    }
    return result;
}

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

void bind_errors(py::module_& module) {
    ExceptionTypes& types = exception_types();
    const auto exception = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
    types.error = make_type(module, "Error", "Anything that kernelfunctions refuses or a driver reports.",
                            py::make_tuple(exception(PyExc_Exception)));
    types.argument =
        make_type(module, "ArgumentError", "An argument's shape or value is wrong; nothing was launched.",
                  py::make_tuple(exception(types.error), exception(PyExc_ValueError)));
    types.argument_type = make_type(module, "ArgumentTypeError",
                                    "An argument's type, dtype, rank or name is wrong; nothing was launched.",
                                    py::make_tuple(exception(types.argument), exception(PyExc_TypeError)));
    types.argument_index = make_type(module, "ArgumentIndexError", "An index or a dimension is out of range.",
                                     py::make_tuple(exception(types.argument), exception(PyExc_IndexError)));
    // Raised by the package's own classes.
    types.argument_attribute =
        make_type(module, "ArgumentAttributeError", "A struct has no field of that name.",
                  py::make_tuple(exception(types.argument), exception(PyExc_AttributeError)));
    // Such calls raise RuntimeError in PyTorch, too.
    types.argument_runtime =
        make_type(module, "ArgumentRuntimeError",
                  "Arguments are on different devices or overlap, or what was asked for has no kernel: a "
                  "derivative.",
                  py::make_tuple(exception(types.argument), exception(PyExc_RuntimeError)));
    types.artifact = make_type(module, "ArtifactError",
                               "A .kfa file is missing, altered, truncated, newer than this runtime, or has "
                               "no image that fits.",
                               py::make_tuple(exception(types.error)));
    types.device = make_type(module, "DeviceError", "A driver or a device failed, or there is none.",
                             py::make_tuple(exception(types.error)));
    module.def("_error", &error_of_id, py::arg("code"), py::arg("text"));
    // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is pybind11's.
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            if (pointer) std::rethrow_exception(pointer);
        } catch (const Error& error) {
            set_python_error(error);
        }
    });
}

}  // namespace kf::python
