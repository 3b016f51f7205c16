// Structs of several modules that have one name.
#pragma once

#include "plan/plan.h"

namespace kf::gen {

/// Errors of calls that pass structs of a name that means others in a call before: the host has one class for
/// both. Modules that import each other have no such two, but calls may name functions of any. Error:
/// "struct-name".
Diagnostics check_struct_names(const Plan& plan);

}  // namespace kf::gen
