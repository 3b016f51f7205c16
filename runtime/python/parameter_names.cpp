// Names of parameters.
#include "python/parameter_names.h"

#include <algorithm>

#include "core/roles.h"
#include "python/tensor.h"
#include "python/torch_state.h"

namespace kf::python {

using detail::PassKind;
using manifest::Role;

ResultForm asked_form(py::handle value) {
    if (PyUnicode_Check(value.ptr()) != 0) {
        const auto is = [&](const char* word) {
            return PyUnicode_CompareWithASCIIString(value.ptr(), word) == 0;
        };
        return is("numpy")    ? ResultForm::array
               : is("tensor") ? ResultForm::tensor
               : is("torch")  ? ResultForm::torch
                              : ResultForm::usual;
    }
    if (PyType_Check(value.ptr()) == 0) return ResultForm::usual;
    auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
    if (type == py::detail::npy_api::get().PyArray_Type_) return ResultForm::array;
    if (value.is(py::type::of<Tensor>())) return ResultForm::tensor;
    const Torch* const torch = Torch::loaded();
    return torch != nullptr && torch->is_own(type) ? ResultForm::torch : ResultForm::usual;
}

std::string parameter_list(const FunctionInfo& info) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        const HostParameter& parameter = info.parameters[i];
        const bool given = !parameter.tangent_of || parameter.role == Role::in;
        if (!parameter.hidden && !parameter.is_global && given) which.push_back(i);
    }
    return parameter_list(info, which);
}

std::string parameter_list(const FunctionInfo& info, const std::vector<std::size_t>& which) {
    std::string text;
    for (const std::size_t i : which) {
        const HostParameter& parameter = info.parameters[i];
        text += (text.empty() ? "" : ", ") + (parameter.role == Role::result ? "out" : parameter.keyword);
    }
    return text;
}

std::string fields_of_results(const FunctionInfo& info, py::handle value) {
    if (PyTuple_Check(value.ptr()) == 0 || info.results.is_none()) return {};
    // Configured copies and overloads of other arguments have a class each, of one name.
    const py::object type = py::type::of(value);
    const bool alike = py::hasattr(type, "_fields") &&
                       py::object(type.attr("_fields")).equal(info.results.attr("_fields")) &&
                       py::object(type.attr("__name__")).equal(info.results.attr("__name__"));
    if (!alike) return {};
    const py::tuple fields = type.attr("_fields");
    std::string own;
    std::string text;
    std::size_t next = 0;
    for (const HostParameter& parameter : info.parameters) next += parameter.role == Role::result ? 1 : 0;
    for (const HostParameter& parameter : info.parameters) {
        if (!is_returned(parameter) || parameter.tangent_of) continue;
        const bool result = parameter.role == Role::result;
        std::string& list = result ? own : text;
        list += (list.empty() ? "" : ", ") + (result ? "out" : parameter.keyword) + "=results." +
                py::cast<std::string>(fields[result ? 0 : next++]);
    }
    return text + (own.empty() ? "" : ", ") + own;
}

bool has_pass(const FunctionInfo& info, PassKind pass) {
    return std::ranges::any_of(info.calls, [&](std::size_t c) {
        const manifest::Call& overload = info.function.calls[c];
        return pass == PassKind::backward ? overload.has_backward
                                          : pass != PassKind::fused || overload.has_fused;
    });
}

}  // namespace kf::python
