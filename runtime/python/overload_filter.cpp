// The overloads worth a try.
#include "python/overload_filter.h"

#include "core/items.h"
#include "python/differentiable.h"
#include "python/scalars.h"
#include "python/structs.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

using manifest::Form;

bool takes_struct(const manifest::ParameterTree& structure, py::handle value) {
    if (structure.extents.empty()) return is_struct_like(value);
    if (manifest::is_array(structure)) return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || py::isinstance<py::array>(value);
}

/// A parameter that is one item.
bool takes(const manifest::Argument& first, const HostItem& item, py::handle value) {
    const Tensor* tensor = as_tensor(value);
    if (item.structure == nullptr) {
        const bool is_array = passes_memory(first) && first.rank > 0;
        return !is_array || !number_kind(value);
    }
    if (item.type == nullptr) return takes_struct(*item.structure, value);
    if (tensor == nullptr) {
        return py::isinstance<py::array>(value) || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
    }
    return tensor->structure == item.type &&
           tensor->any.shape().size() ==
               static_cast<std::size_t>(first.rank) + item.structure->extents.size();
}

}  // namespace

bool may_accept(const FunctionInfo& info, std::size_t call, std::span<const py::object> arguments) {
    const manifest::Call& planned = info.function.calls[call];
    std::size_t at = 0;
    for (std::size_t i = 0; i < planned.parameters.size(); ++i) {
        const manifest::ParameterTree& parameter = planned.parameters[i];
        const HostItem& item = info.items[call][at];
        at += manifest::item_count(parameter);
        if (!arguments[i]) continue;
        py::handle value = arguments[i];
        if (const Differentiable* wrapped = as_differentiable(value)) value = wrapped->value;
        if (parameter.form == Form::fields ? !takes_struct(parameter, value)
                                           : !takes(planned.arguments[item.leaf], item, value))
            return false;
    }
    return true;
}

}  // namespace kf::python
