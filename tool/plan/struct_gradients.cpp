// Finds structs that aren't IDifferentiable in calls that are differentiated.
#include "plan/struct_gradients.h"

#include <algorithm>

#include "core/argument.h"
#include "core/roles.h"
#include "plan/kinds/questions.h"
#include "plan/kinds/whole_tensor.h"

namespace kf::gen {
namespace {

/// Whether the leaf would have a gradient, or pass one on, if the struct were IDifferentiable.
bool lacks_gradient(const PlannedArgument& leaf, const PlannedParameter& parameter) {
    const bool is_plain_tensor =
        parameter.type.kind == TypeKind::tensor && !is_differentiable(parameter.type.form);
    const bool is_own_tensor = leaf.type.kind == TypeKind::tensor && parameter.type.kind != TypeKind::tensor;
    if (leaf.plain_struct.empty() || is_plain_tensor || is_own_tensor) return false;
    if (!passes_elements(leaf.host) || !is_floating(leaf.host.element.scalar)) return false;
    return is_output(leaf.host) || (!leaf.is_unasked && can_have_gradient(leaf.host));
}

Diagnostic warning_of(const PlannedCall& call, const PlannedArgument& leaf,
                      const PlannedParameter& parameter) {
    const bool is_object = call.member == Member::method && parameter.host.leaf == 0;
    const bool is_input = !is_only_written(leaf.host.role);
    const std::string subject = leaf.is_result ? "the result" : "argument '" + parameter.host.name + "'";
    // The gradients of tensors lie beside them, whatever holds them.
    const auto first = call.arguments.begin() + parameter.host.leaf;
    const bool holds_tensors =
        parameter.type.kind != TypeKind::tensor &&
        std::any_of(first, first + parameter.host.leaves, [](const PlannedArgument& one) {
            return one.host.gradient != manifest::Gradient::never;
        });
    const std::string cure = leaf.is_result  ? "mark the function's result no_diff"
                             : holds_tensors ? "mark its field '" + leaf.host.name + "' no_diff"
                             : is_object     ? "mark the method [NoDiffThis]"
                                             : "mark the parameter no_diff";
    return {Severity::warning,
            "struct-gradient",
            leaf.location,
            subject + ": function '" + call.function + "' is differentiated, and " +
                (is_input ? "no gradient reaches the fields of struct '"
                          : "no gradient flows back through struct '") +
                leaf.plain_struct + "', which isn't IDifferentiable",
            {cure_of_plain_struct(leaf.plain_struct), "if it is meant to have no gradient, " + cure}};
}

}  // namespace

std::string cure_of_plain_struct(const std::string& name) {
    const bool is_own = name.starts_with("Optional<") || name.starts_with("Tuple<");
    return is_own
               ? "Slang differentiates it only if all that it is made of is IDifferentiable: pass what isn't "
                 "as another parameter"
               : "declare it 'struct " + name + " : IDifferentiable'";
}

Diagnostics struct_warnings(const Plan& plan) {
    Diagnostics warnings;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            if (!call.has_backward && !call.has_jvp) continue;
            for (const PlannedParameter& parameter : call.parameters) {
                for (std::int64_t i = 0; i < parameter.host.leaves; ++i) {
                    const PlannedArgument& leaf =
                        call.arguments[static_cast<std::size_t>(parameter.host.leaf + i)];
                    if (lacks_gradient(leaf, parameter))
                        add_distinct(warnings, {warning_of(call, leaf, parameter)});
                }
            }
        }
    }
    return warnings;
}

}  // namespace kf::gen
