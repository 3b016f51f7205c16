// What inspect.signature() and repr() say of functions.
#include "python/signature.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/pass_rules.h"

namespace kf::python {
namespace {

using manifest::Role;

/// "float | float tensor[1]": what the overloads take for a parameter.
std::string types_of(const FunctionInfo& info, std::size_t parameter) {
    std::vector<std::string> types;
    for (const std::size_t c : info.calls) {
        const manifest::Call& call = info.function.calls[c];
        std::string type = detail::describe(call, call.parameters[parameter]);
        if (std::ranges::find(types, type) == types.end()) types.push_back(std::move(type));
    }
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : " | ") + type;
    return text;
}

/// What a forward call returns, in words; None for nothing.
py::object returned(const FunctionInfo& info) {
    if (!info.results.is_none()) return info.results.attr("__name__");
    for (std::size_t i = 0; i < info.parameters.size(); ++i)
        if (is_returned(info.parameters[i])) return py::str(types_of(info, i));
    return py::none();
}

}  // namespace

py::object signature_of(const FunctionInfo& info, detail::PassKind pass, bool tangents) {
    const py::module_ inspect = py::module_::import("inspect");
    const py::object parameter = inspect.attr("Parameter");
    py::list parameters;
    if (!info.others.empty()) {
        parameters.append(parameter("args", parameter.attr("VAR_POSITIONAL")));
        parameters.append(parameter("kwargs", parameter.attr("VAR_KEYWORD")));
        return inspect.attr("Signature")(parameters);
    }
    const bool forward = detail::runs_forward(pass);
    const std::vector<std::size_t>& places = forward ? info.places : info.places_backward;
    const auto may_be_left_out = [&](std::size_t i) { return is_only_written(info.parameters[i].role); };
    for (std::size_t k = 0; k < places.size(); ++k) {
        const std::size_t i = places[k];
        py::dict about;
        about["annotation"] = types_of(info, i);
        // Python has no parameters without a default behind one with it.
        if (std::all_of(places.begin() + static_cast<std::ptrdiff_t>(k), places.end(), may_be_left_out))
            about["default"] = py::none();
        parameters.append(parameter(info.names[i], parameter.attr("POSITIONAL_OR_KEYWORD"), **about));
    }
    const auto add = [&](const char* name) {
        parameters.append(parameter(name, parameter.attr("KEYWORD_ONLY"), py::arg("default") = py::none()));
    };
    const auto is_result = [](const HostParameter& one) { return one.role == Role::result; };
    if (forward && std::ranges::any_of(info.parameters, is_result)) add("out");
    if (tangents) add("tangents");
    add("shape");
    add("stream");
    const bool describes_result = forward && !tangents;
    return inspect.attr("Signature")(
        parameters, py::arg("return_annotation") = describes_result
                                                       ? returned(info)
                                                       : py::object(inspect.attr("Signature").attr("empty")));
}

std::string signature_text(const FunctionInfo& info) {
    const std::vector<manifest::Call>& calls = info.function.calls;
    if (calls.empty()) return info.function.name;
    std::string text = detail::describe(info.function, calls.front());
    const std::size_t more = calls.size() - 1;
    if (more == 0) return text;
    return text + ", and " + std::to_string(more) + (more == 1 ? " more overload" : " more overloads");
}

}  // namespace kf::python
