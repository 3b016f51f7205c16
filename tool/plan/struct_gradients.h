// Warns of structs in derivatives that aren't IDifferentiable: they have no gradient.
#pragma once

#include "plan/plan.h"

namespace kf::gen {

/// Warnings ("struct-gradient") for structs with floating fields in calls with derivatives, one for each
/// argument or result: their fields get no gradient and pass none on. None for what the source marks no_diff,
/// or the spec doesn't ask for.
[[nodiscard]] Diagnostics struct_warnings(const Plan& plan);

/// Returns the note on how to give a struct of that name derivatives.
[[nodiscard]] std::string cure_of_plain_struct(const std::string& name);

}  // namespace kf::gen
