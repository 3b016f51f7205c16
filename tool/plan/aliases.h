// Arguments that may be given the same memory.
#pragma once

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// Marks the arguments that "aliases" names. "alias-unknown" for one that the call doesn't have, and
/// "alias-argument" for one that calls don't write as they like: of others, kernels rely on what they read.
Diagnostics mark_aliases(const CallSpec& call, PlannedCall& planned);

}  // namespace kf::gen
