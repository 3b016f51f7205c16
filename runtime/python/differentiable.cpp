// kf.Differentiable: a host value whose gradient accumulates in Python.
#include "python/differentiable.h"
#include <string>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/python_names.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/own_copy.h"
#include "python/recursion.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/structs.h"
#include "python/tensor.h"
#include "python/texture.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

/// A struct's gradient has its shape: an object of its class, else a dict.
py::object zero_like(const py::object& value, const Where& where);

[[noreturn]] void refuse_value(const py::object& value, const Where& where) {
    refuse(ErrorCode::type_mismatch, where,
           "numbers, a list or NumPy array of them, or a struct is needed, not " + shown(value) + " (" +
               detail::with_article(type_name(value)) + ")");
}

bool is_numpy(const py::object& value) { return py::isinstance<py::array>(value) || is_numpy_scalar(value); }

bool is_struct_list(py::handle value) {
    return (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) && py::len(value) > 0 &&
           is_struct_like(py::reinterpret_borrow<py::object>(value)[py::int_(0)]);
}

/// Whether it is one of Slang's tuples by value, and no list of numbers.
bool is_mixed_tuple(py::handle value) {
    return PyTuple_Check(value.ptr()) != 0 && py::len(value) > 0 && !look_through(value, nullptr);
}

/// The fields of a struct, and what they hold.
std::vector<std::pair<py::object, py::object>> fields_of(const py::object& value, const Where& where) {
    const bool keyed = PyDict_Check(value.ptr()) != 0 || is_numpy(value);
    py::object names;
    if (PyDict_Check(value.ptr()) != 0) {
        names = value.attr("keys")();
    } else if (is_numpy(value)) {
        names = value.attr("dtype").attr("names");
    } else if (names = named_fields(value); names.is_none()) {
        if (!py::hasattr(value, "__dict__")) refuse_value(value, where);
        names = py::module_::import("builtins").attr("vars")(value);
    }
    std::vector<std::pair<py::object, py::object>> fields;
    for (const auto& name : py::list(names)) {
        fields.emplace_back(py::reinterpret_borrow<py::object>(name),
                            keyed ? py::object(value[name]) : py::object(value.attr(py::str(name))));
    }
    if (fields.empty()) refuse_value(value, where);
    return fields;
}

/// An optional that has no value has no gradient yet.
py::object zero_of_part(py::handle part, const Where& where) {
    const auto object = py::reinterpret_borrow<py::object>(part);
    return object.is_none() ? object : zero_like(object, where);
}

py::object zero_struct(const py::object& value, const Where& where) {
    py::dict zeros;
    for (const auto& [name, field] : fields_of(value, where)) zeros[name] = zero_of_part(field, where);
    const bool generated = !named_fields(value).is_none() && PyTuple_Check(value.ptr()) == 0;
    return generated ? py::object(py::type::of(value)(**zeros)) : py::object(zeros);
}

py::object zero_like(const py::object& value, const Where& where) {
    const RecursionGuard guard(" in a value to differentiate");
    const py::module_ numpy = py::module_::import("numpy");
    if (is_struct_like(value)) return zero_struct(value, where);
    if (py::isinstance<py::array>(value)) return numpy.attr("zeros_like")(value);
    if (is_mixed_tuple(value)) {
        py::list zeros;
        for (const auto& part : py::tuple(value)) zeros.append(zero_of_part(part, where));
        return py::tuple(zeros);
    }
    if (is_struct_list(value)) {
        py::list zeros;
        for (const auto& one : value)
            zeros.append(zero_struct(py::reinterpret_borrow<py::object>(one), where));
        return zeros;
    }
    const auto nested = look_through(value, where);
    if (!nested) refuse_value(value, where);
    if (nested->shape.empty()) return py::float_(0.0);
    // The dtype of a kf.Tensor of such a list, until the first gradient brings the parameter's own.
    return numpy.attr("zeros")(to_tuple(nested->shape), py::arg("dtype") = "float32");
}

std::string value_and_type(const py::object& value) {
    return shown(value) + " (" + detail::with_article(type_name(value)) + ")";
}

/// What has no derivative, in words; empty where something in `value` feeds a floating parameter. Plain ints
/// do, as in every call.
std::string without_derivative(const py::object& value, const Where& where) {
    const RecursionGuard guard(" in a value to differentiate");
    if (const Tensor* tensor = as_tensor(value)) {
        const bool has_one = tensor->structure != nullptr || is_floating(tensor->any.element().scalar);
        return has_one ? "" : detail::with_article(describe(*tensor));
    }
    if (as_texture(value) != nullptr || as_sampler(value) != nullptr) return shown(value);
    if (torch_kind(value.ptr()) != TorchKind::none)
        return py::cast<bool>(value.attr("is_floating_point")()) ? "" : shown(value);
    if (py::isinstance(value, py::module_::import("enum").attr("Enum"))) return value_and_type(value);
    if (is_struct_like(value)) {
        for (const auto& [name, field] : fields_of(value, where))
            if (!field.is_none() && without_derivative(field, where).empty()) return {};
        return value_and_type(value);
    }
    if (is_numpy(value)) {
        const auto scalar = scalar_of(py::cast<py::dtype>(value.attr("dtype")));
        return scalar && !is_floating(*scalar) ? value_and_type(value) : "";
    }
    if (is_mixed_tuple(value)) {
        for (const auto& part : py::tuple(value))
            if (!part.is_none() &&
                without_derivative(py::reinterpret_borrow<py::object>(part), where).empty())
                return {};
        return value_and_type(value);
    }
    if (is_struct_list(value)) return {};
    const auto nested = look_through(value, where);
    if (!nested) refuse_value(value, where);
    return nested->scalar == ScalarType::boolean || nested->numbers.empty() ? value_and_type(value) : "";
}

/// Refuses what feeds no floating parameter.
void check_derivative(const py::object& value, const Where& where) {
    const std::string refused = without_derivative(value, where);
    if (refused.empty()) return;
    refuse(ErrorCode::type_mismatch, where,
           refused +
               " has no derivative: floating numbers, lists, arrays and tensors of them, and structs have");
}

}  // namespace

Differentiable::Differentiable(const py::object& new_value, bool needs_grad)
    : needs_grad_(needs_grad),
      is_list_(PyList_Check(new_value.ptr()) != 0 || PyTuple_Check(new_value.ptr()) != 0) {
    grad_ = take(new_value);
}

void Differentiable::set_value(const py::object& new_value) {
    // NumPy makes doubles of a list, whatever is subtracted from it: [1.0, 2.0] - 0.1 * grad.
    const bool is_known = is_list_ && is_typed_ && py::isinstance<py::array>(grad_);
    if (!is_known || !py::isinstance<py::array>(new_value) ||
        py::cast<py::dtype>(new_value.attr("dtype")).kind() != 'f') {
        (void)take(new_value);
        return;
    }
    (void)take(new_value.attr("astype")(grad_.attr("dtype"), py::arg("copy") = false));
}

py::object Differentiable::take(const py::object& new_value) {
    check_derivative(new_value, {"differentiable", "value"});
    const Tensor* tensor = as_tensor(new_value);
    const bool is_torch = torch_kind(new_value.ptr()) == TorchKind::plain;
    py::object zeros =
        tensor != nullptr || is_torch ? py::none() : zero_like(new_value, {"differentiable", "value"});
    value = own_copy(new_value);
    if (tensor != nullptr && needs_grad_ != static_cast<bool>(tensor->any.grad())) {
        const AnyTensor any = needs_grad_ ? tensor->any.with_grads() : tensor->any.without_grads();
        value = with_tensor({any, tensor->context, tensor->structure, needs_grad_});
    }
    return zeros;
}

py::object Differentiable::with_tensor(const Tensor& tensor) const {
    const Buffer* buffer = as_buffer(value);
    return buffer != nullptr ? py::cast(Buffer{tensor, buffer->writable}) : py::cast(tensor);
}

py::object Differentiable::grad() {
    if (!needs_grad_) return py::none();
    const Buffer* buffer = as_buffer(value);
    if (buffer == nullptr && as_tensor(value) != nullptr) return value.attr("grad");
    if (buffer == nullptr) {
        // Most tensors of PyTorch's are given theirs.
        if (grad_.is_none()) grad_ = Torch::loaded()->zeros_like(value.attr("detach")());
        return grad_;
    }
    return py::cast(
        Buffer{{buffer->tensor.any.grad(), buffer->tensor.context, buffer->tensor.structure}, true});
}

void Differentiable::set_grad(const py::object& new_grad) {
    if (!needs_grad_) {
        refuse(ErrorCode::type_mismatch, {"differentiable", "grad"},
               "there is none: it was made with needs_grad=False");
    }
    if (const Buffer* buffer = as_buffer(value)) {
        const Where where{"differentiable", "grad"};
        const Buffer* given = as_buffer(new_grad);
        if (given == nullptr) {
            refuse(
                ErrorCode::type_mismatch, where,
                "the gradient of a buffer is a kf.Buffer, not " + detail::with_article(type_name(new_grad)));
        }
        check_writable_buffer(new_grad, where);
        // Refuses one of another type, size or device.
        const py::object bound = py::cast(Tensor{buffer->tensor.any.without_grads(), buffer->tensor.context,
                                                 buffer->tensor.structure})
                                     .attr("with_grads")(py::arg("grad_out") = py::cast(given->tensor));
        value = with_tensor(py::cast<Tensor>(bound));
        return;
    }
    if (as_tensor(value) != nullptr) {
        refuse(ErrorCode::type_mismatch, {"differentiable", "grad"},
               "the gradient of a tensor is the tensor's own: use tensor.with_grads(grad_out=...)");
    }
    const bool is_torch = torch_kind(value.ptr()) != TorchKind::none;
    if (is_torch && !new_grad.is_none() && torch_kind(new_grad.ptr()) == TorchKind::none) {
        refuse(ErrorCode::type_mismatch, {"differentiable", "grad"},
               "the gradient of a torch.Tensor is one, not " + detail::with_article(type_name(new_grad)));
    }
    if (!is_torch) (void)zero_like(new_grad, {"differentiable", "grad"});  // refuses what is no gradient
    grad_ = new_grad;
}

namespace {

struct FieldName {
    std::string name;
};

/// Sums an array's contribution over the dimensions in which the gradient has extent 1 and it has more.
py::object summed_into(const py::object& gradient, const py::object& contribution) {
    if (!py::isinstance<py::array>(gradient) || !py::isinstance<py::array>(contribution)) return contribution;
    const auto less = py::reinterpret_borrow<py::array>(gradient);
    const auto more = py::reinterpret_borrow<py::array>(contribution);
    if (less.ndim() != more.ndim()) return contribution;
    py::list axes;
    for (py::ssize_t d = 0; d < more.ndim(); ++d) {
        if (less.shape(d) == 1 && more.shape(d) != 1) axes.append(d);
    }
    if (axes.empty()) return contribution;
    return more.attr("sum")(py::arg("axis") = py::tuple(axes), py::arg("keepdims") = true);
}

/// Returns a gradient in the dtype of what is added to it, the parameter's.
py::object in_dtype_of(const py::object& gradient, const py::object& contribution) {
    if (!py::isinstance<py::array>(contribution)) return gradient;
    const py::object dtype = contribution.attr("dtype");
    if (py::isinstance<py::array>(gradient) && py::object(gradient.attr("dtype")).equal(dtype))
        return gradient;
    return py::module_::import("numpy").attr("asarray")(gradient, dtype);
}

py::object added(const py::object& sum, const py::object& contribution);

/// The parts of a tuple, whose sum may be an object of its class.
py::object added_parts(const py::object& sum, const py::tuple& contribution) {
    if (is_struct_like(sum)) {
        py::dict fields;
        for (std::size_t i = 0; i < contribution.size(); ++i)
            fields[("_" + std::to_string(i)).c_str()] = contribution[i];
        return added(sum, fields);
    }
    py::tuple sums(contribution.size());
    for (std::size_t i = 0; i < contribution.size(); ++i)
        sums[i] = added(py::object(sum[py::int_(i)]), py::object(contribution[i]));
    return sums;
}

/// Whether the sum is an optional's as a struct, where what is added is the gradient of its value.
bool is_optional_struct(const py::object& sum, const py::object& contribution) {
    return has_field_of(sum, "has_value") && has_field_of(sum, "value") &&
           !has_field_of(contribution, "has_value");
}

/// Adds a contribution, for structs a dict of Slang's names, to a sum, which may have attributes' names.
py::object added(const py::object& sum, const py::object& contribution) {
    if (sum.is_none()) return contribution;
    if (is_optional_struct(sum, contribution)) {
        const bool keyed = PyDict_Check(sum.ptr()) != 0;
        const py::str name("value");
        const py::object value = keyed ? py::object(sum[name]) : py::object(sum.attr(name));
        const py::object more = added(value, contribution);
        if (keyed) {
            sum[name] = more;
        } else {
            py::setattr(sum, name, more);
        }
        return sum;
    }
    if (PyTuple_Check(contribution.ptr()) != 0) return added_parts(sum, contribution);
    if (PyDict_Check(contribution.ptr()) != 0) {
        std::vector<FieldName> fields;
        for (const auto& [name, more] : py::dict(contribution))
            fields.push_back({std::string(utf8_of(py::str(name)))});
        const bool keyed = PyDict_Check(sum.ptr()) != 0;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const py::str slang(fields[i].name);
            const py::str attribute(detail::python_attribute(fields, i));
            const py::object more = contribution[slang];
            if (keyed) {
                const py::str key = PyDict_Contains(sum.ptr(), slang.ptr()) == 1 ? slang : attribute;
                sum[key] = added(py::object(sum[key]), more);
            } else {
                const py::str name = py::hasattr(sum, attribute) ? attribute : slang;
                py::setattr(sum, name, added(py::object(sum.attr(name)), more));
            }
        }
        return sum;
    }
    // Elements of an array, of which some of Slang's own may have been given as other objects.
    if (PyList_Check(contribution.ptr()) != 0 && is_list(sum)) {
        py::list sums(sum);
        for (std::size_t i = 0; i < py::len(contribution); ++i)
            sums[i] = added(py::object(sums[i]), py::object(contribution[py::int_(i)]));
        return PyTuple_Check(sum.ptr()) != 0 ? py::object(py::tuple(sums)) : py::object(sums);
    }
    const py::object part = summed_into(sum, contribution);
    const py::object typed = in_dtype_of(sum, part);
    auto result = py::reinterpret_steal<py::object>(PyNumber_Add(typed.ptr(), part.ptr()));
    if (!result) throw py::error_already_set();
    return result;
}

}  // namespace

void Differentiable::add(const py::object& contribution) {
    const py::object sum = grad_;  // kept: adding may run code that sets another
    grad_ = added(sum, contribution);
    is_typed_ = true;
}

void Differentiable::add_pushed(const py::object& list) {
    is_typed_ = true;
    const bool alike = py::isinstance<py::array>(grad_) &&
                       py::object(grad_.attr("shape")).equal(py::object(list.attr("shape")));
    const py::object sum = grad_;
    grad_ = alike ? added(sum, list) : list;
}

Differentiable* as_differentiable(py::handle value) { return held<Differentiable>(value); }

void bind_differentiable(py::module_& module) {
    py::class_<Differentiable> type(
        module, "Differentiable",
        "A value or buffer whose gradient accumulates in `grad` when a backward call takes it.");
    type.def(py::init<const py::object&, bool>(), py::arg("value"), py::arg("needs_grad") = true)
        .def_property_readonly("needs_grad", &Differentiable::needs_grad,
                               "Whether backward calls add a gradient to it.")
        .def_property(
            "value", [](const Differentiable& self) { return self.value; }, &Differentiable::set_value)
        .def_property("grad", &Differentiable::grad, &Differentiable::set_grad)
        .def("__repr__", [](Differentiable& self) {
            return "differentiable(" + std::string(py::repr(self.value)) +
                   (self.needs_grad() ? ", grad=" + std::string(py::repr(self.grad()))
                                      : std::string(", needs_grad=False")) +
                   ")";
        });
    // Generic in stubs, so Differentiable[float] should not fail at run time either.
    type.attr("__class_getitem__") = py::reinterpret_steal<py::object>(PyClassMethod_New(
        py::cpp_function([](const py::object& self, const py::object&) { return self; }).ptr()));
    module.def(
        "differentiable",
        [](const py::object& value, bool needs_grad) { return Differentiable(value, needs_grad); },
        py::arg("value"), py::arg("needs_grad") = true,
        "Wraps what backward calls add a gradient to; `grad` starts at zero.\n\n"
        "A number, a vector as a list or an array, and a struct have a `grad` of their own form; a kf.Buffer "
        "has it in another kf.Buffer, which may be given as `grad`; a kf.Tensor keeps its own. "
        "needs_grad=False: a constant.");
}

}  // namespace kf::python
