// Why an input has no gradient, as far as the Slang source says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check/messages.h"
#include "plan/plan.h"

namespace kf::gen {

/// Returns why an input, by its number in plan and artifact, has no gradient. Empty: the plan knows no more
/// than the artifact.
std::string reason(const Plan& plan, std::size_t function, std::size_t call, std::size_t argument);

/// Returns the reasons of all arguments that have one. They mean nothing for inputs that have a gradient.
std::vector<check::Reason> reasons(const Plan& plan);

}  // namespace kf::gen
