// Refuses functions and fields of a module that kernels can't name, as they aren't public.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// "function-not-public" where kernels can call none of the functions that the call may mean.
Diagnostics check_public(const std::vector<const Function*>& candidates);

/// "type-not-supported" for parameters that are tensors of slang-torch's, or a part of one of kf.slang's.
Diagnostics check_tensor_types(const CallSpec& call, const std::vector<const Function*>& candidates);

/// "field-not-public" for each field of the call's structs that stays closed.
Diagnostics check_fields(const PlannedCall& call, const Module& module);

}  // namespace kf::gen
