// The function that a kernel calls in place of the user's.
#include "emit/adapter.h"

#include "emit/items.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

constexpr const char* adapter_name = "kf_adapter";

std::string direction_of(manifest::Role role) {
    if (role == manifest::Role::out) return "out ";
    return role == manifest::Role::inout ? "inout " : "";
}

}  // namespace

std::string called_name(const PlannedCall& call) { return call.by_adapter ? adapter_name : call.function; }

std::string backward_hint(const PlannedCall& call) {
    if (!call.by_adapter) return {};
    return "Slang can't differentiate through every interface: make the function generic, as in f<T : "
           "IShape>(T s)";
}

View::List adapters(const PlannedCall& call) {
    if (!call.by_adapter) return {};
    std::string result = "void";
    std::string parameters;
    std::string passed;
    for (const PlannedParameter& parameter : parameters_of(call)) {
        // What has no gradient in the user's function has none here, so that kernels see one signature.
        const std::string type = (parameter.no_diff && parameter.type.differentiable ? "no_diff " : "") +
                                 direction_of(parameter.role) + declared_name(parameter.type);
        if (parameter.role == manifest::Role::result) {
            result = type;
            continue;
        }
        parameters += (parameters.empty() ? "" : ", ") + type + " " + parameter.host.name;
        passed += (passed.empty() ? "" : ", ") + parameter.host.name;
    }
    View::Object adapter;
    adapter.emplace("is_differentiable", call.has_backward);
    adapter.emplace("signature", result + " " + adapter_name + "(" + parameters + ")");
    adapter.emplace("statement",
                    std::string(result == "void" ? "" : "return ") + call.function + "(" + passed + ")");
    return {View(adapter)};
}

}  // namespace kf::gen
