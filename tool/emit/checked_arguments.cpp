// What kernels that check indices can't take.
#include "emit/checked_arguments.h"

#include "core/roles.h"
#include "emit/kinds/questions.h"

namespace kf::gen {

Diagnostics check_checked_arguments(const PlannedCall& call) {
    Diagnostics errors;
    if (!call.checks) return errors;
    for (const PlannedArgument& argument : call.arguments) {
        const manifest::HostPassing passing = manifest::passed_as(argument.host);
        const bool is_bound =
            supply_of(argument.host) == Supply::bound && passing != manifest::HostPassing::sampler;
        if (!is_bound && passing != manifest::HostPassing::pointer) continue;
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
