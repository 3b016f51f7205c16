// Counts the dimensions that a call's arguments share.
#include "plan/call_rank.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "core/roles.h"
#include "plan/accumulate.h"
#include "plan/kinds/questions.h"

namespace kf::gen {

namespace {

/// Who makes the call's rank, for users who listed alternatives and see an error about one combination.
std::vector<std::string> rank_notes(const std::vector<PlannedArgument>& arguments, std::int64_t rank) {
    const auto widest =
        std::find_if(arguments.begin(), arguments.end(),
                     [&](const PlannedArgument& argument) { return argument.host.call_rank == rank; });
    if (widest == arguments.end()) return {};
    return {"alternatives multiply, and in this combination '" + widest->host.name + "' has call rank " +
            std::to_string(rank) + ": put kinds that don't go together into calls of one \"name\""};
}

}  // namespace

std::int64_t call_rank(const std::vector<PlannedArgument>& arguments) {
    std::int64_t rank = 0;
    for (const PlannedArgument& argument : arguments) {
        rank = std::max(rank, least_call_rank(argument.host));
        for (const std::int64_t dimension : argument.host.map) rank = std::max(rank, dimension + 1);
    }
    return rank;
}

Diagnostics check_ranks(const PlannedCall& call) {
    Diagnostics errors;
    for (const PlannedArgument& argument : call.arguments) {
        if (const std::optional<Diagnostic> error = check_in_call(argument, call.rank))
            errors.push_back(*error);
    }
    return errors;
}

void align(std::vector<PlannedArgument>& arguments, std::int64_t rank) {
    for (PlannedArgument& argument : arguments) {
        if (!argument.host.map.empty()) continue;
        argument.host.map.resize(static_cast<std::size_t>(argument.host.call_rank));
        std::iota(argument.host.map.begin(), argument.host.map.end(), rank - argument.host.call_rank);
    }
}

Diagnostics check_outputs(const PlannedCall& call, bool alternatives) {
    Diagnostics errors;
    const std::int64_t rank = call.rank;
    for (const PlannedArgument& argument : call.arguments) {
        if (!is_output(argument.host) || argument.host.call_rank == rank) continue;
        if (argument.host.role != manifest::Role::inout && may_combine(call, argument)) continue;
        // One error is enough for all fields of a struct.
        if (!errors.empty() && errors.back().location == argument.location) continue;
        const std::string name = argument.is_result ? "the result" : "output '" + argument.host.name + "'";
        errors.push_back({Severity::error,
                          "output-broadcast",
                          argument.location,
                          name + " has call rank " + std::to_string(argument.host.call_rank) +
                              ", but the call's rank is " + std::to_string(rank) +
                              ": calls would write over each other",
                          {"an output is never broadcast; give it a kind of rank " +
                           std::to_string(argument.host.rank - argument.host.call_rank + rank)}});
        if (const auto summed = name_to_sum(call, argument)) {
            errors.back().notes.push_back("or say how its values are combined: \"accumulate\": {\"" +
                                          *summed + "\": [\"sum\"]}");
        }
        if (!alternatives) continue;
        for (std::string& note : rank_notes(call.arguments, rank))
            errors.back().notes.push_back(std::move(note));
    }
    return errors;
}

}  // namespace kf::gen
