// What kernels that check indices can't take.
#include "emit/checked_arguments.h"

#include "core/roles.h"
#include "emit/kinds/questions.h"

namespace kf::gen {

Diagnostics check_checked_arguments(const PlannedCall& call) {
    Diagnostics errors;
    if (!call.checks) return errors;
    for (const PlannedArgument& argument : call.arguments) {
        const bool is_pointer = std::holds_alternative<manifest::kinds::Pointer>(argument.host.kind);
        const bool is_resource =
            supply_of(argument.host) == Supply::bound && !manifest::passes_sampler(argument.host);
        const bool is_buffer = std::holds_alternative<manifest::kinds::Buffer>(argument.host.kind);
        if (!is_pointer && !is_resource && !is_buffer) continue;
        errors.push_back(
            {Severity::error,
             "checked-argument",
             argument.location,
             "argument '" + argument.host.name + "' of '" + call.function + "' is a '" + argument.type.name +
                 "', whose indices can't be checked",
             {"\"checked\" is for tensors: make it a Tensor or RWTensor, or leave \"checked\" out of this "
              "call"}});
    }
    return errors;
}

}  // namespace kf::gen
