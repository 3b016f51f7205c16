// The default values of structs' fields, as Slang makes them.
#pragma once

#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

/// Finds what the plan's structs have in fields that nobody gives: by the fields' own values, or by all
/// constructors that set them to constants. Returns a warning, "field-default", for each value of a field's
/// own that isn't known without running something. `functions`: the modules'.
Diagnostics add_field_defaults(Plan& plan, const std::vector<Function>& functions, Compiler& compiler);

}  // namespace kf::gen
