// kf.Differentiable: a host value whose gradient accumulates in Python.
#include "python/differentiable.h"

#include "python/errors.h"
#include "python/host.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

py::object zero_like(const py::object& value) {
    const Where where{"differentiable", "value"};
    const py::module_ numpy = py::module_::import("numpy");
    if (py::isinstance<py::array>(value)) return numpy.attr("zeros_like")(value);
    const auto nested = look_through(value, where);
    if (!nested) {
        refuse(ErrorCode::type_mismatch, where,
               "a number, a list, a NumPy array or a kf.Tensor is needed, not a " + type_name(value));
    }
    if (nested->shape.empty()) return py::float_(0.0);
    return numpy.attr("zeros")(to_tuple(nested->shape));
}

}  // namespace

Differentiable::Differentiable(const py::object& new_value) {
    set_value(new_value);
    if (as_tensor(value) == nullptr) grad_ = zero_like(value);
}

void Differentiable::set_value(const py::object& new_value) {
    value = new_value;
    if (const Tensor* tensor = as_tensor(new_value); tensor != nullptr && !tensor->any.grad()) {
        value = py::cast(Tensor{tensor->any.with_grads(), tensor->context});
    }
}

py::object Differentiable::grad() const { return as_tensor(value) != nullptr ? value.attr("grad") : grad_; }

void Differentiable::set_grad(const py::object& new_grad) {
    if (as_tensor(value) != nullptr) {
        refuse(ErrorCode::type_mismatch, {"differentiable", "grad"},
               "the gradient of a tensor is the tensor's own: use tensor.with_grads(grad_out=...)");
    }
    grad_ = new_grad;
}

void Differentiable::add(const py::object& contribution) {
    auto sum = py::reinterpret_steal<py::object>(PyNumber_Add(grad_.ptr(), contribution.ptr()));
    if (!sum) throw py::error_already_set();
    grad_ = std::move(sum);
}

Differentiable* as_differentiable(py::handle value) {
    return py::isinstance<Differentiable>(value) ? py::cast<Differentiable*>(value) : nullptr;
}

void bind_differentiable(py::module_& module) {
    py::class_<Differentiable> type(
        module, "Differentiable",
        "A value whose gradient accumulates in `grad` when a backward call takes it.");
    type.def(py::init<const py::object&>(), py::arg("value"))
        .def_property(
            "value", [](const Differentiable& self) { return self.value; }, &Differentiable::set_value)
        .def_property("grad", &Differentiable::grad, &Differentiable::set_grad)
        .def("__repr__", [](const Differentiable& self) {
            return "differentiable(" + std::string(py::repr(self.value)) +
                   ", grad=" + std::string(py::repr(self.grad())) + ")";
        });
    // Generic in stubs, so Differentiable[float] should not fail at run time either.
    type.attr("__class_getitem__") = py::reinterpret_steal<py::object>(PyClassMethod_New(
        py::cpp_function([](const py::object& self, const py::object&) { return self; }).ptr()));
    module.def(
        "differentiable", [](const py::object& value) { return Differentiable(value); }, py::arg("value"),
        "Wraps a number or vector for backward calls; `grad` starts at zero.");
}

}  // namespace kf::python
