// Why an input has no gradient, as far as the Slang source says.
#include "check_process/reasons.h"

#include <algorithm>

#include "core/kinds/questions.h"
#include "plan/kinds/whole_tensor.h"

namespace kf::gen {
namespace {

const Type& innermost_element(const Type& type) {
    const bool holds = type.kind == TypeKind::array || type.kind == TypeKind::tensor;
    return holds && !type.element.empty() ? innermost_element(type.element.front()) : type;
}

bool is_floating(const Type& type) {
    const Type& element = innermost_element(type);
    const bool number = element.kind == TypeKind::scalar || element.kind == TypeKind::vector ||
                        element.kind == TypeKind::matrix;
    return !number || element.scalar >= ScalarType::float16;
}

std::string not_differentiable(const Type& type) {
    const Type& element = innermost_element(type);
    return element.kind == TypeKind::structure && !element.differentiable
               ? "'" + element.name + "' is not IDifferentiable"
               : std::string();
}

/// Follows a field's path (".spheres[].center") from the parameter on, to what says no_diff first. Of a
/// struct that is no IDifferentiable the tensors have gradients all the same.
std::string along_path(const Type& parameter, const std::string& path, bool to_tensor) {
    const Type* type = &innermost_element(parameter);
    std::string why = to_tensor ? std::string() : not_differentiable(*type);
    for (std::size_t at = path.find('.'); why.empty() && at != std::string::npos;
         at = path.find('.', at + 1)) {
        const std::size_t end = path.find_first_of(".[", at + 1);
        const std::string name = path.substr(at + 1, end == std::string::npos ? end : end - at - 1);
        const auto field = std::find_if(type->fields.begin(), type->fields.end(),
                                        [&](const Field& one) { return one.name == name; });
        if (field == type->fields.end()) return {};
        if (field->no_diff) return "field '" + name + "' is no_diff";
        type = &innermost_element(field->type);
        if (!to_tensor || field->type.kind == TypeKind::tensor) why = not_differentiable(*type);
    }
    return why;
}

std::string why_not_differentiable(const PlannedCall& call, const PlannedArgument& argument,
                                   std::size_t index) {
    for (const PlannedParameter& parameter : call.parameters) {
        const auto first = static_cast<std::size_t>(parameter.host.leaf);
        if (index < first || index >= first + static_cast<std::size_t>(parameter.host.leaves)) continue;
        const bool to_tensor =
            argument.type.kind == TypeKind::tensor && parameter.type.kind != TypeKind::tensor;
        std::string why = along_path(parameter.type, argument.path, to_tensor);
        if (!why.empty()) return why;
        if (parameter.no_diff)
            return call.member == Member::method && first == 0 ? "[NoDiffThis]" : "no_diff";
    }
    return argument.no_diff ? "no_diff" : std::string();
}

}  // namespace

std::string reason(const Plan& plan, std::size_t function, std::size_t call, std::size_t argument) {
    const PlannedCall& planned = plan.functions[function].calls[call];
    const PlannedArgument& input = planned.arguments[argument];
    const bool output = input.host.role != manifest::Role::result && !depends_on_elements(input.host);
    if (output || !passes_elements(input.host) || !is_floating(input.type)) return {};
    if (!planned.has_backward) return "the spec asks for no \"backward\"";
    if (input.host.differentiable)
        return input.grad_is_false ? "\"grad\": false" : "not among the \"inputs\" of \"backward\"";
    if (input.type.kind == TypeKind::tensor && !is_differentiable(input.type.form)) {
        return std::string(form_name(input.type.form)) + " has no derivatives";
    }
    return why_not_differentiable(planned, input, argument);
}

std::vector<check::Reason> reasons(const Plan& plan) {
    std::vector<check::Reason> all;
    for (std::size_t f = 0; f < plan.functions.size(); ++f) {
        for (std::size_t c = 0; c < plan.functions[f].calls.size(); ++c) {
            for (std::size_t a = 0; a < plan.functions[f].calls[c].arguments.size(); ++a) {
                std::string text = reason(plan, f, c, a);
                if (!text.empty()) all.push_back({f, c, a, std::move(text)});
            }
        }
    }
    return all;
}

}  // namespace kf::gen
