// The rank of a call's shape: what its arguments say of it, and which of them can't be in it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// The rank that the arguments make together.
std::int64_t call_rank(const std::vector<PlannedArgument>& arguments);

/// Returns the errors of arguments in a call of its rank.
Diagnostics check_ranks(const PlannedCall& call);

/// Dimensions without a "map" align at the call's last one.
void align(std::vector<PlannedArgument>& arguments, std::int64_t rank);

/// Refuses outputs that calls would share: "output-broadcast". `alternatives`: the spec lists some, and
/// errors name the combination.
Diagnostics check_outputs(const PlannedCall& call, bool alternatives);

}  // namespace kf::gen
