// Why an input has no gradient, as far as the Slang source says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check/messages.h"
#include "plan/plan.h"

namespace kf::gen {

/// Of an input that has none, by its number in the plan, which is that in the artifact. Empty: nothing more
/// is known than the artifact says.
std::string reason(const Plan& plan, std::size_t function, std::size_t call, std::size_t argument);

/// Those of all arguments that have one. Of inputs that have a gradient they mean nothing.
std::vector<check::Reason> reasons(const Plan& plan);

}  // namespace kf::gen
