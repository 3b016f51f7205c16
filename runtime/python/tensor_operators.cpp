// kf.Tensor's operators: what one element is as a number, and what the others say.
#include <array>
#include <cstdint>
#include <string>

#include "python/arrays.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/scalars.h"
#include "python/tensor.h"
#include "python/torch_state.h"
#include "python/views.h"

namespace kf::python {
namespace {

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

py::object one_value(const Tensor& self, const char* as) {
    if (self.any.size() != 1) {
        refuse(ErrorCode::shape_mismatch, {"Tensor", {}},
               std::string(as) + " takes one element, and the shape is " +
                   std::string(py::str(to_tuple(self.any.shape()))) + ": to_numpy() gives an array");
    }
    return py::cast(self).attr("item")();
}

/// What NumPy and PyTorch compare element by element, or add to.
bool has_elements_or_is_number(py::handle value) {
    return as_tensor(value) != nullptr || py::isinstance<py::array>(value) || number_kind(value) ||
           PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0 ||
           torch_kind(value.ptr()) != TorchKind::none;
}

struct Operator {
    const char* name;
    const char* symbol;
};

constexpr std::array comparisons{Operator{"__eq__", "=="}, Operator{"__ne__", "!="},
                                 Operator{"__lt__", "<"},  Operator{"__le__", "<="},
                                 Operator{"__gt__", ">"},  Operator{"__ge__", ">="}};

constexpr std::array binary{Operator{"add__", "+"},      Operator{"sub__", "-"},  Operator{"mul__", "*"},
                            Operator{"truediv__", "/"},  Operator{"pow__", "**"}, Operator{"matmul__", "@"},
                            Operator{"floordiv__", "//"}};

[[noreturn]] void refuse_operator(const std::string& expression, const std::string& cure) {
    refuse(ErrorCode::type_mismatch, {"Tensor", {}},
           expression + " isn't done on a device outside of kernels: " + cure);
}

template <class Body>
void define(py::class_<Tensor>& type, const std::string& name, const Body& body) {
    type.attr(name.c_str()) = py::cpp_function(body, py::is_method(type), py::name(name.c_str()));
}

void bind_comparisons(py::class_<Tensor>& type) {
    for (const auto& [name, symbol] : comparisons) {
        const std::string text = symbol;
        define(type, name, [text](const Tensor&, py::handle other) {
            if (!has_elements_or_is_number(other)) return not_implemented();
            refuse_operator("x " + text + " y",
                            "compare x.to_numpy(), or see by `is` whether it is the same tensor");
        });
    }
    // By identity: dicts and sets find the very tensor without comparing.
    define(type, "__hash__", [](const py::object& self) {
        if (held<Tensor>(self) == nullptr) throw py::type_error("a kf.Tensor that isn't made has no hash");
        return static_cast<py::ssize_t>(reinterpret_cast<std::uintptr_t>(self.ptr()) >> 4U);
    });
}

/// With NumPy's arrays and PyTorch's tensors the others' operators do what they can.
void bind_arithmetic(py::class_<Tensor>& type) {
    for (const auto& [name, symbol] : binary) {
        const std::string text = symbol;
        const auto refused = [text](const Tensor&, py::handle other) {
            const bool is_theirs = py::isinstance<py::array>(other) ||
                                   torch_kind(other.ptr()) != TorchKind::none || is_numpy_scalar(other);
            if (is_theirs || !has_elements_or_is_number(other)) return not_implemented();
            refuse_operator("x " + text + " y", "x.to_numpy() " + text + " y does it in NumPy");
        };
        define(type, std::string("__") + name, refused);
        define(type, std::string("__r") + name, refused);
        define(type, std::string("__i") + name, [text](const Tensor&, py::handle) -> py::object {
            refuse_operator("x " + text + "= y", "x.copy_from_numpy(x.to_numpy() " + text +
                                                     " y) goes by NumPy; fill() and "
                                                     "zero_grad() set all elements");
        });
    }
}

}  // namespace

void bind_operators(py::class_<Tensor>& type) {
    bind_comparisons(type);
    bind_arithmetic(type);
    type.def("__float__", [](const Tensor& self) { return py::float_(one_value(self, "float()")); })
        .def("__int__", [](const Tensor& self) { return py::int_(one_value(self, "int()")); });
}

}  // namespace kf::python
