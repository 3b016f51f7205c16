// The function that a kernel calls in place of the user's, where that one's name alone would not do.
#pragma once

#include <string>

#include "emit/view.h"
#include "plan/plan.h"

namespace kf::gen {

/// Returns the function that kernels call in Slang: `call.function`, or the adapter that declares its types.
std::string called_name(const PlannedCall& call);

/// Returns the advice where Slang refuses the backward pass; empty when there is none.
std::string backward_hint(const PlannedCall& call);

/// Signature and body of the adapter, for the kernel's template; empty when the call has none.
View::List adapters(const PlannedCall& call);

}  // namespace kf::gen
