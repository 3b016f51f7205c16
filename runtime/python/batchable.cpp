// kf.Batchable: a list or an array of which every call gets one element.
#include "python/batchable.h"

#include "core/describe.h"
#include "python/array_likes.h"
#include "python/errors.h"
#include "python/own_copy.h"
#include "python/tensor.h"
#include "python/torch_state.h"

namespace kf::python {

bool is_batchable_like(py::handle value) {
    if (const Tensor* const tensor = as_tensor(value)) return tensor->any.rank() > 0;
    const bool is_array = py::isinstance<py::array>(value) || torch_kind(value.ptr()) != TorchKind::none;
    if (is_array) return py::cast<int>(value.attr("ndim")) > 0;
    return as_batchable(value) != nullptr || PyList_Check(value.ptr()) != 0 ||
           PyTuple_Check(value.ptr()) != 0 || PyRange_Check(value.ptr()) != 0 || is_iterator(value.ptr()) ||
           static_cast<bool>(stand_in(value));
}

Batchable::Batchable(py::handle given) {
    if (!is_batchable_like(given)) {
        refuse(ErrorCode::type_mismatch, {"Batchable", "value"},
               "a list, an array or a tensor is needed, not " + shown(given) + " (" +
                   detail::with_article(type_name(given)) + ")");
    }
    const Batchable* const other = as_batchable(given);
    const py::object plain = other == nullptr ? stand_in(given) : other->value;
    value = own_copy(plain ? plain : py::reinterpret_borrow<py::object>(given));
}

const Batchable* as_batchable(py::handle value) { return held<Batchable>(value); }

void bind_batchable(py::module_& module) {
    py::class_<Batchable>(module, "Batchable",
                          "A list, an array or a tensor of which every call gets one element, also where a "
                          "list could be one vector.")
        .def(py::init<py::handle>(), py::arg("value"))
        .def_property_readonly("value", [](const Batchable& self) { return self.value; })
        .def("__len__", [](const Batchable& self) { return py::len(self.value); })
        .def("__repr__",
             [](const Batchable& self) { return "Batchable(" + std::string(py::repr(self.value)) + ")"; });
    module.def(
        "is_batchable_like", &is_batchable_like, py::arg("value"),
        "Whether calls can take an element of it each: a tensor, an array, a list, or what is like one.");
}

}  // namespace kf::python
