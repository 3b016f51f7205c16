// Refuses arguments that kernels which check indices can't take.
#include "emit/checked_arguments.h"

#include <algorithm>

#include "core/roles.h"
#include "emit/kinds/questions.h"
#include "plan/memory_layout.h"

namespace kf::gen {

namespace {

bool is_bound(const PlannedArgument& argument) {
    return supply_of(argument.host) == Supply::bound &&
           manifest::passed_as(argument.host) != manifest::HostPassing::sampler;
}

}  // namespace

Diagnostics check_checked_arguments(const PlannedCall& call) {
    Diagnostics errors;
    if (!call.checks) return errors;
    for (const PlannedParameter& parameter : call.parameters) {
        if (!holds_pointer(parameter.type)) continue;
        const PlannedArgument& argument = call.arguments[static_cast<std::size_t>(parameter.host.leaf)];
        errors.push_back(
            {Severity::error,
             "checked-argument",
             argument.location,
             "argument '" + parameter.host.name + "' of '" + call.function + "' is a '" +
                 parameter.type.name + "'" +
                 (parameter.type.kind == TypeKind::pointer ? "" : " with pointers") +
                 ", whose indices can't be checked",
             {"a pointer has no extents: make it a tensor or a buffer, or leave \"checked\" out of "
              "this call"}});
    }
    return errors;
}

bool checks_accesses(const PlannedCall& call) {
    return call.checks && std::ranges::any_of(call.arguments, is_bound);
}

}  // namespace kf::gen
