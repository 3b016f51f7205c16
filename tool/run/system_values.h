// Refuses functions that ask for the values that a GPU gives to entry points alone.
#pragma once

#include "plan/plan.h"
#include "slang/module.h"

namespace kf::gen {

/// A parameter `uint3 id : SV_DispatchThreadID` of a function that the plan calls would be an argument as any
/// other. Error: "system-value", at the parameter.
Diagnostics check_system_values(const Plan& plan, const Module& module);

}  // namespace kf::gen
