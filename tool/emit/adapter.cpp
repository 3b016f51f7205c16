// The function that a kernel calls in place of the user's.
#include "emit/adapter.h"

#include "emit/items.h"
#include "plan/type_text.h"
#include "plan/types.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

constexpr const char* adapter_name = "kf_adapter";
constexpr const char* object_name = "kf_this";

std::string direction_of(manifest::Role role) {
    if (role == manifest::Role::out) return "out ";
    return role == manifest::Role::inout ? "inout " : "";
}

/// The symbol of an operator; empty where it is none.
std::string symbol_of(const PlannedCall& call) {
    const auto symbol = operator_symbol(call.function);
    return symbol ? call.function.substr(symbol->begin, symbol->size) : std::string();
}

/// The function's name as Slang reads it: an operator's generic arguments stand apart from its symbol.
std::string spelled_name(const PlannedCall& call) {
    std::string name = call.function;
    const auto symbol = operator_symbol(name);
    if (symbol && symbol->begin + symbol->size < name.size()) name.insert(symbol->begin + symbol->size, " ");
    return name;
}

/// Returns the name that the adapter calls. Slang takes "operator*(a, b)" for `a * b`; operators that are
/// members have no other form.
std::string callee(const PlannedCall& call) {
    if (call.member == Member::constructor) return owner_of(call.function);
    if (call.member != Member::method) return spelled_name(call);
    if (symbol_of(call) == "[]") return object_name;
    return object_name + spelled_name(call).substr(owner_of(call.function).size());
}

/// `passed`: "a, b".
std::string call_of(const PlannedCall& call, const std::string& passed) {
    const bool subscript = call.member == Member::method && symbol_of(call) == "[]";
    return callee(call) + (subscript ? "[" + passed + "]" : "(" + passed + ")");
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
    const auto add = [&](const std::string& type, const std::string& name) {
        parameters += (parameters.empty() ? "" : ", ") + type + " " + name;
    };
    const auto add_launch_values = [&](std::size_t before) {
        for (std::size_t i = 0; i < call.launch_values.size(); ++i) {
            if (call.launch_values[i].before != before) continue;
            const std::string name = "kf_launch_" + std::to_string(i);
            add(call.launch_values[i].type, name);
            passed += (passed.empty() ? "" : ", ") + name;
        }
    };
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const PlannedParameter& parameter = call.parameters[i];
        add_launch_values(i);
        if (parameter.tangent_of >= 0 || !parameter.global_function.empty()) continue;
        // A parameter without a gradient in the user's function has none here: kernels see one signature.
        const std::string type = (parameter.no_diff && parameter.type.differentiable ? "no_diff " : "") +
                                 direction_of(parameter.role) + declared_name(parameter.type);
        if (parameter.role == manifest::Role::result) {
            result = type;
            continue;
        }
        const bool object = call.member == Member::method && parameters.empty();
        // The bare name may be the function's.
        const std::string name = object ? object_name : "kf_arg_" + parameter.host.name;
        add(type, name);
        if (!object) passed += (passed.empty() ? "" : ", ") + name;
    }
    add_launch_values(call.parameters.size());
    View::Object adapter;
    adapter.emplace("is_differentiable", call.has_backward || call.is_jvp);
    adapter.emplace("signature", result + " " + adapter_name + "(" + parameters + ")");
    adapter.emplace("statement", std::string(result == "void" ? "" : "return ") + call_of(call, passed));
    return {View(adapter)};
}

}  // namespace kf::gen
