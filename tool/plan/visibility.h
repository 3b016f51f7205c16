// What of a module kernels can't name, as it isn't public.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// "module-not-public" where functions that the call may mean are of a module that has nothing public, and
/// "function-not-public" where none of them is public in one that has.
Diagnostics check_public(const std::vector<const Function*>& candidates, const Module& module);

/// "type-not-supported" for parameters that are tensors of slang-torch's, or a part of one of kf.slang's.
Diagnostics check_tensor_types(const CallSpec& call, const std::vector<const Function*>& candidates);

/// "field-not-public" for each field of the call's structs that stays closed.
Diagnostics check_fields(const PlannedCall& call, const Module& module);

}  // namespace kf::gen
