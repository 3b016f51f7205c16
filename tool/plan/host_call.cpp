// A planned call as hosts see it.
#include "plan/host_call.h"

namespace kf::gen {

manifest::Call host_call(const PlannedCall& call) {
    manifest::Call host;
    host.rank = call.rank;
    host.dispatch = call.dispatch;
    host.strict_broadcasting = call.strict_broadcasting;
    host.has_backward = call.has_backward;
    host.has_fused = call.has_fused;
    for (const PlannedArgument& argument : call.arguments) host.arguments.push_back(argument.host);
    for (const PlannedParameter& parameter : call.parameters) host.parameters.push_back(parameter.host);
    return host;
}

}  // namespace kf::gen
