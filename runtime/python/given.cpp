// What can be said of arguments by their number and names alone.
#include "python/given.h"

#include <vector>

#include "core/roles.h"

namespace kf::python {

using detail::PassKind;
using manifest::Role;

bool asks_for_array(py::handle value) {
    const auto* array_type = reinterpret_cast<PyObject*>(py::detail::npy_api::get().PyArray_Type_);
    return value.ptr() == array_type ||
           (PyUnicode_Check(value.ptr()) != 0 && PyUnicode_CompareWithASCIIString(value.ptr(), "numpy") == 0);
}

std::string parameter_list(const FunctionInfo& info) {
    std::string text;
    for (const Parameter& parameter : info.parameters) {
        if (parameter.hidden || (parameter.tangent_of && parameter.role != Role::in)) continue;
        text += (text.empty() ? "" : ", ") + (parameter.role == Role::result ? "out" : parameter.keyword);
    }
    return text;
}

std::optional<std::size_t> left_out(const FunctionInfo& info, PassKind pass, const py::tuple& arguments,
                                    const py::dict& keywords) {
    std::vector<bool> given;
    std::size_t places = 0;
    std::size_t named = 0;
    for (const Parameter& parameter : info.parameters) {
        const bool result = parameter.role == Role::result;
        const bool by_place =
            !parameter.hidden && !parameter.tangent_of && (pass == PassKind::backward || !result);
        const bool by_name = !parameter.hidden && (keywords.contains(result ? "out" : parameter.keyword) ||
                                                   (result && keywords.contains("result")));
        given.push_back(by_name || (by_place && places < arguments.size()));
        places += by_place ? 1 : 0;
        named += by_name ? 1 : 0;
    }
    if (arguments.size() > places) return std::nullopt;
    for (const char* word : {"shape", "stream"}) named += keywords.contains(word) ? 1 : 0;
    std::size_t missing = named == keywords.size() ? 0 : info.parameters.size() + 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const Parameter& parameter = info.parameters[i];
        if (given[i] || parameter.hidden || parameter.tangent_of) continue;
        const bool output = is_only_written(parameter.role);
        missing += output ? 1 : info.parameters.size() + 1;
    }
    return missing > info.parameters.size() ? std::nullopt : std::optional(missing);
}

}  // namespace kf::python
