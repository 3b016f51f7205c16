// Makes the plan that a spec's kernels would be made of, for commands that make none.
#pragma once

#include "cli/options.h"
#include "diagnostic/diagnostic.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

struct ReachedPlan {
    Plan plan;             ///< with the globals that its calls reach
    Diagnostics failures;  ///< why some functions could not be looked at: see ReachReport
};

/// Plans the spec's calls and checks what their functions reach. Errors: those of plan_spec(), check_reach()
/// and add_globals().
Outcome<ReachedPlan> reached_plan(const Spec& spec, const Options& options);

}  // namespace kf::gen
