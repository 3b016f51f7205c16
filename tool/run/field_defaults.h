// The default values of structs' fields, as Slang makes them.
#pragma once

#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

/// Finds what the plan's and the globals' structs have in fields that nobody gives: by the fields' own
/// values, or by all constructors that set them to constants. Returns a warning, "field-default", for each
/// value of a field's own that isn't known without running something. The module's globals count as used.
Diagnostics add_field_defaults(Plan& plan, const Module& module, Compiler& compiler);

}  // namespace kf::gen
