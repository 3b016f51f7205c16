// Calls that may not broadcast: which of them could never be made.
#pragma once

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// An argument that lacks one of the call's dimensions, where broadcasting is forbidden:
/// "strict-broadcasting". `alternatives`: the call is one combination of several kinds.
Diagnostics check_strict(const PlannedCall& call, bool alternatives);

}  // namespace kf::gen
