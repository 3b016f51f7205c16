// The function that a kernel calls in place of the user's.
#include "emit/adapter.h"

#include "emit/items.h"
#include "plan/type_text.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

constexpr const char* adapter_name = "kf_adapter";
constexpr const char* object_name = "kf_this";

std::string direction_of(manifest::Role role) {
    if (role == manifest::Role::out) return "out ";
    return role == manifest::Role::inout ? "inout " : "";
}

/// What the adapter calls.
std::string callee(const PlannedCall& call) {
    if (call.member == Member::constructor) return owner_of(call.function);
    if (call.member != Member::method) return call.function;
    return object_name + call.function.substr(owner_of(call.function).size());
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
        if (parameter.tangent_of >= 0) continue;
        // What has no gradient in the user's function has none here, so that kernels see one signature.
        const std::string type = (parameter.no_diff && parameter.type.differentiable ? "no_diff " : "") +
                                 direction_of(parameter.role) + declared_name(parameter.type);
        if (parameter.role == manifest::Role::result) {
            result = type;
            continue;
        }
        const bool object = call.member == Member::method && parameters.empty();
        // Not the bare name, which may be the function's.
        const std::string name = object ? object_name : "kf_arg_" + parameter.host.name;
        parameters += (parameters.empty() ? "" : ", ") + type + " " + name;
        if (!object) passed += (passed.empty() ? "" : ", ") + name;
    }
    View::Object adapter;
    adapter.emplace("is_differentiable", call.has_backward || call.is_jvp);
    adapter.emplace("signature", result + " " + adapter_name + "(" + parameters + ")");
    adapter.emplace("statement",
                    std::string(result == "void" ? "" : "return ") + callee(call) + "(" + passed + ")");
    return {View(adapter)};
}

}  // namespace kf::gen
