// torch.Tensors by type and shape alone.
#include "python/described_tensors.h"

#include "python/bound_class.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

using detail::ArgShape;
using detail::unknown_extent;

Dims extents_of(py::handle shape) {
    Dims extents;
    for (const py::handle extent : py::reinterpret_borrow<py::tuple>(shape))
        extents.push_back(PyLong_Check(extent.ptr()) != 0 ? py::cast<std::int64_t>(extent) : unknown_extent);
    return extents;
}

TensorKind make_kind(const py::object& dtype, const py::tuple& shape) { return {dtype, extents_of(shape)}; }

}  // namespace

bool is_describable(py::handle value) {
    return torch_kind(value.ptr()) != TorchKind::none || held<TensorKind>(value) != nullptr;
}

DescribedTensor describe_tensor(py::handle value) {
    const Torch& torch = *Torch::loaded();
    const auto* const kind = held<TensorKind>(value);
    DescribedTensor tensor;
    tensor.dtype = kind != nullptr ? kind->dtype : torch.dtype(value.ptr());
    tensor.shape.shape = kind != nullptr ? kind->shape : extents_of(value.attr("shape"));
    tensor.shape.is_torch = true;
    const bool is_on_host =
        kind == nullptr && py::cast<std::string>(value.attr("device").attr("type")) == "cpu";
    tensor.shape.kind = is_on_host ? ArgShape::Kind::array : ArgShape::Kind::tensor;
    tensor.shape.is_watched = is_on_host;
    const std::optional<ScalarType> scalar = torch.scalar(tensor.dtype);
    tensor.is_known = scalar.has_value();
    tensor.shape.scalar = scalar.value_or(ScalarType::float32);
    tensor.may_cast =
        scalar != ScalarType::float64 && tensor.dtype.attr("is_floating_point").ptr() == Py_True;
    return tensor;
}

std::string unknown_dtype_text(py::handle dtype) {
    std::string name = py::str(dtype);
    if (name.starts_with("torch.")) name.erase(0, 6);
    return "kernels have no dtype " + name + known_dtypes;
}

void bind_described_tensors(py::module_& module) {
    py::class_<TensorKind>(module, "_TensorKind", "A tensor that code is traced for.")
        .def(py::init(&make_kind), py::arg("dtype"), py::arg("shape"),
             "`shape`: None for extents that aren't known.")
        .def_readonly("dtype", &TensorKind::dtype)
        .def("__repr__", [](const TensorKind&) { return "a traced torch.Tensor"; });
}

}  // namespace kf::python
