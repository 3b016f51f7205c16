// What derivatives have of structs that aren't IDifferentiable: nothing, which is said.
#pragma once

#include "plan/plan.h"

namespace kf::gen {

/// Warnings ("struct-gradient") for structs with floating fields in calls with derivatives, one for each
/// argument or result: their fields get no gradient and pass none on. None for what the source marks no_diff,
/// or the spec doesn't ask for.
[[nodiscard]] Diagnostics struct_warnings(const Plan& plan);

}  // namespace kf::gen
