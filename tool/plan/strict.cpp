// Calls that may not broadcast.
#include "plan/strict.h"

#include <algorithm>
#include <string>

#include "core/roles.h"
#include "plan/kinds/generator.h"

namespace kf::gen {
namespace {

std::string of_rank(std::int64_t rank) { return "call rank " + std::to_string(rank); }

}  // namespace

Diagnostics check_strict(const PlannedCall& call, bool alternatives) {
    Diagnostics errors;
    const auto widest =
        std::find_if(call.arguments.begin(), call.arguments.end(),
                     [&](const PlannedArgument& argument) { return argument.host.call_rank == call.rank; });
    if (!call.strict_broadcasting || widest == call.arguments.end()) return errors;
    for (const PlannedArgument& argument : call.arguments) {
        const manifest::Argument& host = argument.host;
        // Outputs are never broadcast; one value for all calls has no shape.
        if (is_output(host) || !has_host_value(host) || host.call_rank == 0 || host.call_rank == call.rank)
            continue;
        // One error is enough for all fields of a struct.
        if (!errors.empty() && errors.back().location == argument.location) continue;
        errors.push_back({Severity::error,
                          "strict-broadcasting",
                          argument.location,
                          "'" + host.name + "' has " + of_rank(host.call_rank) + " and '" +
                              widest->host.name + "' " + of_rank(call.rank) +
                              ": \"strict_broadcasting\" refuses every call with both",
                          {"give '" + host.name + "' a kind of rank " +
                           std::to_string(host.rank - host.call_rank + call.rank) +
                           ", a value, or leave \"strict_broadcasting\" out"}});
        if (alternatives) {
            errors.back().notes.emplace_back(
                "alternatives multiply: put kinds that don't go together into calls of one \"name\"");
        }
    }
    return errors;
}

}  // namespace kf::gen
