// A planned call as hosts see it.
#pragma once

#include <string>
#include <vector>

#include "core/manifest.h"
#include "plan/plan.h"

namespace kf::gen {

/// The call as its artifact has it, without its kernels.
manifest::Call host_call(const PlannedCall& call);

/// Returns the plan's name for the host function that a call is an overload of: "f", or "Ray.at" of a member.
std::string host_name(const PlannedCall& call, const std::string& name);

/// Adds an overload to the host function of the name, which it makes if there is none. `doc`: the function's.
void add_call(Plan& plan, const std::string& name, const std::string& doc, PlannedCall call);

/// Returns the types that hosts give a call, in order, in words but without names; where `with_result`, also
/// the tensor that the result is written to. Hosts can't tell apart two calls that have the same.
std::vector<std::string> given_types(const PlannedCall& call, bool with_result);

}  // namespace kf::gen
