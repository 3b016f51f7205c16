// Marks arguments of enums whose members are combined.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// `names`: Module::flag_enums.
void note_flag_enums(std::vector<PlannedArgument>& arguments, const std::vector<std::string>& names);

}  // namespace kf::gen
