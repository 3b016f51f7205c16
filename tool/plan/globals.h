// Global parameters that calls reach: arguments that the host sets beforehand.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"
#include "slang/module.h"

namespace kf::gen {

/// Where the global parameters are declared that each call reaches.
using ReachedGlobals = std::map<const PlannedCall*, std::vector<Location>>;

/// Gives each call the globals that it reaches, in the order of their declaration. Errors:
/// "global-parameter" for one of a type that can't be passed as a value or a whole tensor.
Diagnostics add_globals(Plan& plan, const ReachedGlobals& reached,
                        const std::vector<GlobalParameter>& globals);

/// The call as kernels and the artifact have it: its globals are its last parameters.
PlannedCall with_globals(const PlannedCall& call);

/// Returns the plan with all of its calls like that.
Plan with_globals(const Plan& plan);

}  // namespace kf::gen
