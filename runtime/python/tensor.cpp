// kf.Tensor: making, reading, writing and gradients. Views are in views.cpp.
#include "python/tensor.h"
#include "core/describe.h"
#include "python/array_likes.h"
#include "python/arrays.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/tensor_state.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/exported.h"
#include "python/from_dlpack.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/pickling.h"
#include "python/scalars.h"
#include "python/views.h"

namespace kf::python {
namespace {

using detail::Refusal;

constexpr Where tensor_class{"Tensor", {}};

ElementType element_of_scalar(ScalarType scalar) { return {scalar, 0}; }

/// The struct that a dtype argument asks for, as a dtype or a generated class; null for none.
const StructType* structure_of(py::handle dtype) {
    if (dtype.is_none()) return nullptr;
    const bool is_class = PyType_Check(dtype.ptr()) != 0 && py::hasattr(dtype, "dtype") &&
                          py::isinstance<py::dtype>(dtype.attr("dtype"));
    const py::object wanted =
        is_class ? py::object(dtype.attr("dtype")) : py::reinterpret_borrow<py::object>(dtype);
    const Where where{"Tensor", "dtype"};
    return struct_type(numpy_dtype(wanted, where), where);
}

/// A name= argument; empty for None.
std::string parse_name(py::handle name) {
    if (name.is_none()) return {};
    if (PyUnicode_Check(name.ptr()) == 0) {
        refuse(ErrorCode::type_mismatch, {"Tensor", "name"}, "a str is needed, not " + shown(name));
    }
    return std::string(utf8_of(name));
}

AnyTensor with_name(const AnyTensor& tensor, const std::string& name) {
    return name.empty() ? tensor : tensor.named(name);
}

using Maker = AnyTensor (*)(const Device&, ElementType, const Dims&);

template <Maker maker>
Tensor make_tensor(py::handle shape, py::handle dtype, py::handle device, py::handle name) {
    // pybind11 goes on to make_tensor_on() then.
    if (py::isinstance<Context>(shape)) throw py::reference_cast_error();
    const Dims dims = parse_shape(shape, {"Tensor", "shape"});
    const ContextPtr context = context_of(device, tensor_class);
    const StructType* structure = structure_of(dtype);
    const ElementType element = structure != nullptr
                                    ? structure->element
                                    : element_of_scalar(parse_dtype(dtype, {"Tensor", "dtype"}));
    const std::string named = parse_name(name);
    const GilRelease release;
    return {with_name(maker(context->device(), element, dims), named), context, structure};
}

/// With the device first, by another package's habit.
template <Maker maker>
Tensor make_tensor_on(py::handle device, py::handle shape, py::handle dtype, py::handle name) {
    return make_tensor<maker>(shape, dtype, device, name);
}

/// Adds a way to make tensors to the class. `what`: its description.
template <Maker maker>
void add_maker(py::class_<Tensor>& type, const char* name, const char* what) {
    type.def_static(name, &make_tensor<maker>, py::arg("shape"), py::arg("dtype") = py::none(), py::kw_only(),
                    py::arg("device") = py::none(), py::arg("name") = py::none(), what)
        .def_static(name, &make_tensor_on<maker>, py::arg("device"), py::arg("shape"),
                    py::arg("dtype") = py::none(), py::kw_only(), py::arg("name") = py::none(),
                    "The same, with the device first.");
}

/// An array, or what is like one.
py::array need_array(py::handle value, const Where& where) {
    if (std::optional<py::array> array = array_of(value)) return *array;
    refuse(ErrorCode::type_mismatch, where,
           "a NumPy array is needed, not " + detail::with_article(type_name(value)) +
               (PyList_Check(value.ptr()) != 0 ? ": kf.Tensor(list) takes that" : ""));
}

Tensor from_numpy(py::handle array, py::handle device, py::handle name) {
    const Where where{"Tensor.from_numpy", "a"};
    const py::array source = need_array(array, where);
    const ContextPtr context = context_of(device, tensor_class);
    return {with_name(upload(context->device(), source, where), parse_name(name)), context,
            struct_type(source.dtype(), where)};
}

/// numpy(device, a), by another package's habit.
Tensor from_numpy_on(py::handle device, py::handle array) { return from_numpy(array, device, py::none()); }

Tensor construct_unnamed(py::handle a, py::handle dtype, py::handle device) {
    const Where where{"Tensor", "a"};
    const ContextPtr context = context_of(device, tensor_class);
    if (const py::object other = stand_in(a)) {
        if (const Tensor* const tensor = as_tensor(other)) return *tensor;
        return construct_unnamed(other, dtype, device);
    }
    Refusal why;
    if (const Stack stack = stacked(a, &why); stack.array) {
        const bool is_there = device.is_none() && stack.context != nullptr;
        return construct_unnamed(stack.array, dtype, is_there ? py::cast(stack.context) : device);
    }
    if (!why.text.empty()) refuse(why, where);
    if (py::isinstance<py::array>(a)) {
        const auto array = py::reinterpret_borrow<py::array>(a);
        if (const StructType* structure = struct_type(array.dtype(), where); structure != nullptr) {
            if (!dtype.is_none() && structure_of(dtype) != structure) {
                refuse(ErrorCode::type_mismatch, where,
                       "an array of dtype " + std::string(py::str(array.dtype())) + " is not cast");
            }
            return {upload(context->device(), array, where), context, structure};
        }
        if (!dtype.is_none() && parse_dtype(dtype, {"Tensor", "dtype"}) != scalar_of(array, where)) {
            refuse(ErrorCode::type_mismatch, where,
                   "an array of dtype " + std::string(py::str(array.dtype())) +
                       " is not cast: use a.astype(dtype)");
        }
        return {upload(context->device(), array, where), context};
    }
    const auto nested = look_through(a, where);
    if (!nested) {
        refuse(
            ErrorCode::type_mismatch, where,
            "a number, a nested list or a NumPy array is needed, not " + detail::with_article(type_name(a)));
    }
    ScalarType scalar = ScalarType::float32;
    if (!dtype.is_none()) {
        scalar = parse_dtype(dtype, {"Tensor", "dtype"});
    } else if (!nested->numbers.empty() && nested->scalar != ScalarType::float64) {
        scalar = nested->scalar == ScalarType::boolean ? ScalarType::boolean : ScalarType::int32;
    }
    return {upload(context->device(), *nested, scalar, where), context};
}

Tensor construct(py::handle a, py::handle dtype, py::handle device, py::handle name) {
    const std::string named = parse_name(name);
    Tensor made = construct_unnamed(a, dtype, device);
    made.any = with_name(made.any, named);
    return made;
}

void copy_from_numpy(const Tensor& self, py::handle source) {
    const Where where{"Tensor.copy_from_numpy", "a"};
    const py::array array = need_array(source, where);
    const bool same = self.structure != nullptr ? struct_type(array.dtype(), where) == self.structure
                                                : scalar_of(array, where) == self.any.element().scalar;
    if (!same) {
        refuse(ErrorCode::type_mismatch, where,
               "the array's dtype is " + std::string(py::str(array.dtype())) + ", the tensor's " +
                   std::string(py::str(dtype_of(self))));
    }
    const Dims shape = shape_of(array, where);
    if (!(shape == self.any.shape())) {
        refuse(ErrorCode::shape_mismatch, where,
               "the array's shape is " + shown(to_tuple(shape)) + ", the tensor's " +
                   shown(to_tuple(self.any.shape())));
    }
    const auto bytes = pack(array);
    const AnyTensor target = self.any;
    const GilRelease release;
    target.write(bytes);
}

py::object item(const Tensor& self) {
    if (self.any.size() != 1) {
        refuse(ErrorCode::shape_mismatch, {"Tensor.item", {}},
               "one element is needed, the shape is " + shown(to_tuple(self.any.shape())));
    }
    if (self.structure != nullptr) return download(self).attr("item")();
    std::array<std::byte, 8> bytes{};
    const std::span used = std::span(bytes).first(self.any.element().size());
    {
        const AnyTensor source = self.any;
        const GilRelease release;
        source.read(used);
    }
    return unpack_number(self.any.element().scalar, bytes.data());
}

void fill(const Tensor& self, py::handle value) {
    const Where where{"Tensor.fill", "value"};
    if (self.structure != nullptr) {
        refuse(ErrorCode::type_mismatch, where,
               "a tensor of structs is filled by copy_from_numpy(), not with " + shown(value));
    }
    std::array<std::byte, 8> bytes{};
    pack_number(value, self.any.element().scalar, bytes.data(), where);
    const AnyTensor target = self.any;
    const GilRelease release;
    target.fill(std::span(bytes).first(target.element().size()));
}

void clear_elements(const Tensor& self) {
    const std::vector<std::byte> zeros(self.any.element().size());
    const AnyTensor target = self.any;
    const GilRelease release;
    target.fill(zeros);
}

void zero_grad(const Tensor& self) {
    if (!self.any.grad()) {
        refuse(ErrorCode::missing_argument, {"Tensor.zero_grad", {}},
               "the tensor has no gradient: with_grads() gives a tensor that has");
    }
    const std::vector<std::byte> zeros(self.any.element().size());
    const AnyTensor owner = self.any;
    const GilRelease release;
    if (owner.grad_in()) owner.grad_in().fill(zeros);
    if (owner.grad_out() && owner.grad_out().state() != owner.grad_in().state()) owner.grad_out().fill(zeros);
}

[[noreturn]] void refuse_grad(const Tensor&, py::handle) {
    throw py::attribute_error(
        "a tensor keeps its gradient: zero_grad() and grad.fill() set its elements, and "
        "with_grads(grad_out=...) gives a tensor with another one");
}

void set_item(const py::object& self, py::handle index, py::handle value) {
    const py::object part = self.attr("__getitem__")(index);
    if (number_kind(value)) {
        part.attr("fill")(value);
        return;
    }
    if (!array_of(value)) {
        refuse(ErrorCode::type_mismatch, {"Tensor", {}},
               "x[i] = y takes a number or a NumPy array, not " + shown(value));
    }
    part.attr("copy_from_numpy")(value);
}

/// "float32", or "structs (pos, dir)".
std::string dtype_name(const Tensor& tensor) {
    if (tensor.structure == nullptr) return numpy_name(tensor.any.element().scalar);
    std::string names;
    for (const auto& name : dtype_of(tensor).attr("names"))
        names += (names.empty() ? "" : ", ") + std::string(utf8_of(py::str(name)));
    return "structs (" + names + ")";
}

/// A gradient argument: a tensor of this dtype and shape, or an array to upload. Null for None.
AnyTensor gradient_of(const Tensor& self, py::handle value, const char* name) {
    if (value.is_none()) return {};
    const Where where{"Tensor.with_grads", name};
    if (const Tensor* tensor = as_tensor(value)) {
        if (tensor->structure != self.structure) {
            refuse(ErrorCode::type_mismatch, where,
                   "a tensor of " + dtype_name(*tensor) + " where one of " + dtype_name(self) + " is needed");
        }
        return tensor->any;
    }
    if (const auto array = array_of(value)) return upload(self.context->device(), *array, where);
    refuse(ErrorCode::type_mismatch, where,
           "a kf.Tensor or a NumPy array is needed, not " + detail::with_article(type_name(value)));
}

Tensor with_grads(const Tensor& self, py::handle zero, py::handle grad_in, py::handle grad_out) {
    const bool is_bool =
        PyBool_Check(zero.ptr()) != 0 || py::isinstance(zero, py::module_::import("numpy").attr("bool_"));
    if (!is_bool) {
        refuse(ErrorCode::type_mismatch, {"Tensor.with_grads", "zero"},
               "True or False is needed, not " + shown(zero) +
                   "; gradients are given by name, grad_in= and grad_out=");
    }
    if (grad_in.is_none() && grad_out.is_none()) {
        const bool zeroed = py::cast<bool>(zero);
        const AnyTensor bare = self.any;
        const GilRelease release;
        return {bare.with_grads(zeroed), self.context, self.structure, true};
    }
    return {
        self.any.with_grads(gradient_of(self, grad_in, "grad_in"), gradient_of(self, grad_out, "grad_out")),
        self.context, self.structure};
}

py::object gradient(const Tensor& self, const AnyTensor& grad) {
    if (!grad) return py::none();
    return py::cast(Tensor{grad, self.context, self.structure});
}

std::string represent(const Tensor& self) {
    constexpr std::int64_t most = 64;
    std::string text = "Tensor(";
    if (self.any.size() <= most) {
        try {
            const py::object values = py::module_::import("numpy").attr("array2string")(
                download(self), py::arg("separator") = ", ", py::arg("prefix") = "Tensor(");
            text += std::string(py::str(values)) + ", ";
        } catch (const Error&) {
            text += "..., ";  // debuggers show it all the same
        }
    }
    text += "shape=" + std::string(py::str(to_tuple(self.any.shape()))) + ", dtype=" +
            (self.structure != nullptr ? std::string(py::str(dtype_of(self)))
                                       : std::string(numpy_name(self.any.element().scalar))) +
            ", device='" + self.context->device().info().id + "'";
    if (self.any.grad()) text += ", with grads";
    if (const std::string name = self.any.name(); !name.empty()) text += ", name='" + name + "'";
    return text + ")";
}

py::object array_interface(const Tensor& self, py::handle dtype, py::handle copy) {
    return answer_array("kf.Tensor", dtype, copy, [&] { return download(self); });
}

}  // namespace

Tensor wrap(const AnyTensor& tensor, const ContextPtr& context) {
    const ElementType& element = tensor.element();
    if (element.rank == 0) return {tensor, context};
    detail::TensorState state = *tensor.state();
    state.element.rank = 0;
    state.element.extents = ElementType{}.extents;
    state.size *= element.scalars();
    for (std::size_t i = 0; i < state.strides.size(); ++i) state.strides[i] *= element.scalars();
    std::int64_t stride = element.scalars();
    for (std::size_t i = 0; i < element.rank; ++i) {
        stride /= element.extents[i];
        state.shape.push_back(element.extents[i]);
        state.strides.push_back(stride);
    }
    return {AnyTensor(std::make_shared<const detail::TensorState>(std::move(state))), context};
}

py::dtype dtype_of(const Tensor& tensor) {
    if (tensor.structure == nullptr) return dtype_of(tensor.any.element().scalar);
    return py::reinterpret_borrow<py::dtype>(tensor.structure->dtype);
}

const Tensor* as_tensor(py::handle value) {
    if (const Tensor* tensor = held<Tensor>(value)) return tensor;
    const Buffer* buffer = as_buffer(value);
    return buffer != nullptr ? &buffer->tensor : nullptr;
}

std::vector<AnyTensor> memory_of(py::handle value, const Where& where) {
    std::vector<AnyTensor> memory;
    const auto add = [&](py::handle one) {
        const Tensor* tensor = as_tensor(one);
        if (tensor == nullptr) {
            refuse(ErrorCode::type_mismatch, where,
                   "a kf.Tensor or kf.Buffer, or a list of them, is needed, not " + shown(one));
        }
        memory.push_back(tensor->any);
    };
    if (PyList_Check(value.ptr()) == 0 && PyTuple_Check(value.ptr()) == 0) {
        add(value);
        return memory;
    }
    for (const py::handle one : py::reinterpret_borrow<py::sequence>(value)) add(one);
    return memory;
}

std::string describe(const Tensor& tensor) {
    const std::string name = tensor.any.name();
    const std::string shape =
        (name.empty() ? "" : " '" + name + "'") + " of shape " + shown(to_tuple(tensor.any.shape()));
    return tensor.structure != nullptr ? "tensor of " + dtype_name(tensor) + shape
                                       : dtype_name(tensor) + " tensor" + shape;
}

void bind_tensor(py::module_& module) {
    py::class_<Tensor> type(
        module, "Tensor",
        "An n-dimensional array in device memory, or a view of one.\n\n"
        "Vectors are trailing dimensions: what a kernel takes as a tensor of float3 of rank 1 is "
        "a\nfloat32 tensor of shape (n, 3).");
    add_maker<&AnyTensor::empty>(type, "empty", "Uninitialised; dtype is float32 by default.");
    add_maker<&AnyTensor::zeros>(type, "zeros", "All elements 0; dtype is float32 by default.");
    add_maker<&AnyTensor::ones>(type, "ones", "All elements 1; dtype is float32 by default.");
    type.def(py::init(&construct), py::arg("a"), py::arg("dtype") = py::none(), py::kw_only(),
             py::arg("device") = py::none(), py::arg("name") = py::none(),
             "Copies an array or nested lists to a device. Python floats become float32, ints int32.")
        .def_static("numpy", &from_numpy_on, py::arg("device"), py::arg("a"), "from_numpy(a, device).")
        .def_static("from_numpy", &from_numpy, py::arg("a"), py::arg("device") = py::none(), py::kw_only(),
                    py::arg("name") = py::none(), "A contiguous copy of `a` (any strides) on a device.")
        .def_static("from_dlpack", &tensor_from_dlpack, py::arg("x"), py::kw_only(),
                    py::arg("device") = py::none(), py::arg("copy") = py::none(),
                    "The tensor of another library, by DLPack or __cuda_array_interface__: on its own CUDA "
                    "device the same memory,\nelse a copy. `copy`: True, False (refused where the memory "
                    "can't be shared) or None.")
        .def(
            "to_numpy", [](const Tensor& self) { return download(self); },
            "A new C-contiguous array; waits for what writes the tensor.")
        .def("copy_from_numpy", &copy_from_numpy, py::arg("a"),
             "Overwrites the tensor in place; shape and dtype must be the same.")
        .def("fill", &fill, py::arg("value"), "Sets all elements to one number, in place.")
        .def("clear", &clear_elements, "Sets all elements to 0, in place.")
        .def("zero_grad", &zero_grad, "Sets the gradients to 0, in place.")
        .def("item", &item, "The value of a tensor of one element.")
        .def("tolist", [](const Tensor& self) { return download(self).attr("tolist")(); })
        .def("__setitem__", &set_item, py::arg("index"), py::arg("value"))
        .def("with_grads", &with_grads, py::arg("zero") = true, py::kw_only(),
             py::arg("grad_in") = py::none(), py::arg("grad_out") = py::none(),
             "The same data with gradients: those given, else one new buffer for both, zeroed when `zero`.\n"
             "A NumPy array that is given is copied: calls add to the tensor's gradient, not to the array.")
        .def(
            "detach",
            [](const Tensor& self) {
                return Tensor{self.any.without_grads(), self.context, self.structure};
            },
            "The same data without gradients.")
        .def_property(
            "grad", [](const Tensor& self) { return gradient(self, self.any.grad()); }, &refuse_grad)
        .def_property(
            "grad_in", [](const Tensor& self) { return gradient(self, self.any.grad_in()); }, &refuse_grad)
        .def_property(
            "grad_out", [](const Tensor& self) { return gradient(self, self.any.grad_out()); }, &refuse_grad)
        .def_property_readonly(
            "needs_grad", [](const Tensor& self) { return static_cast<bool>(self.any.grad()); },
            "Whether backward calls add a gradient to it: whether it has one.")
        .def_property_readonly("shape", [](const Tensor& self) { return to_tuple(self.any.shape()); })
        .def_property_readonly(
            "strides", [](const Tensor& self) { return to_tuple(self.any.strides()); },
            "In elements, not bytes.")
        .def_property_readonly("dtype", [](const Tensor& self) { return dtype_of(self); })
        .def_property_readonly("ndim", [](const Tensor& self) { return self.any.rank(); })
        .def_property_readonly(
            "size", [](const Tensor& self) { return self.any.size(); }, "Number of elements.")
        .def_property_readonly("nbytes",
                               [](const Tensor& self) {
                                   return self.any.size() *
                                          static_cast<std::int64_t>(self.any.element().size());
                               })
        .def_property_readonly("is_contiguous", [](const Tensor& self) { return self.any.is_contiguous(); })
        .def_property_readonly(
            "address", [](const Tensor& self) { return self.any.address(); },
            "Device address of the first element.")
        .def_property_readonly("device", [](const Tensor& self) { return self.context; })
        .def_property_readonly(
            "name",
            [](const Tensor& self) -> std::optional<std::string> {
                std::string name = self.any.name();
                if (name.empty()) return std::nullopt;
                return name;
            },
            "What messages and tools call it; its views have the same name.")
        .def("__reduce__", [](const py::object& self) { return pickled(of_own_class(self)); })
        .def("__copy__", [](const py::object& self) { return deep_copy(of_own_class(self)); })
        .def(
            "__deepcopy__",
            [](const py::object& self, const py::dict& /*memo*/) { return deep_copy(of_own_class(self)); },
            py::arg("memo"))
        .def("__array__", &array_interface, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
        .def("__repr__", &represent);
    bind_views(type);
    bind_operators(type);
    bind_exports(type);
}

}  // namespace kf::python
