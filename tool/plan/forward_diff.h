// The forward derivative of a call as a call of its own: the same arguments, and a tangent for each of those
// that are differentiable.
#pragma once

#include <string>

#include "plan/plan.h"
#include "slang/module.h"

namespace kf::gen {

/// Errors: "not-differentiable" where Slang has no forward derivative, or the call nothing to differentiate.
/// `location`: where the spec asks for it.
Diagnostics check_forward_diff(const Function& function, const PlannedCall& call, const Location& location);

/// Arguments by role: what goes in, then its tangents ("tangents.a", which may be absent: then they are 0),
/// then what comes out and its tangents. Of an inout argument the tangent that comes out is one more
/// argument, "tangents_out.a". Tangents have the types, ranks and kinds of what they belong to.
PlannedCall forward_derivative(const PlannedCall& call);

/// Gives each function with such calls another one, "NAME.jvp", at the end of the plan.
void add_forward_derivatives(Plan& plan);

}  // namespace kf::gen
