// Which of a module's functions a call of the spec can mean.
#pragma once

#include <vector>

#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// The overloads that have exactly the arguments that the call lists, or why there are none.
/// Errors: "function-unknown", "function-generic", "function-method",
/// "argument-unknown", "argument-missing".
Outcome<std::vector<const Function*>> find_candidates(const CallSpec& call, const Module& module);

/// "float add(float x, float y)", for messages.
std::string signature(const Function& function);

}  // namespace kf::gen
