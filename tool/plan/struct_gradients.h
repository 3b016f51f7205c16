// What derivatives have of structs that aren't IDifferentiable: nothing, which is said.
#pragma once

#include "plan/plan.h"

namespace kf::gen {

/// Warnings ("struct-gradient") for structs with floating fields in calls with derivatives, one for each
/// argument or result: their fields get no gradient and pass none on. None for what the source marks no_diff,
/// or the spec doesn't ask for.
[[nodiscard]] Diagnostics struct_warnings(const Plan& plan);

/// What gives a struct of that name derivatives, as a note says it.
[[nodiscard]] std::string cure_of_plain_struct(const std::string& name);

}  // namespace kf::gen
