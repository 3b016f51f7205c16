// Why an input has no gradient, as far as the Slang source says.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.h"

namespace kf::check {

/// Of an input that has none, by its number in the plan, which is that in the artifact. Empty: nothing more
/// is known than the artifact says.
std::string reason(const gen::Plan& plan, std::size_t function, std::size_t call, std::size_t argument);

}  // namespace kf::check
