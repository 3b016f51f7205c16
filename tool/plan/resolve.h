// Resolves a spec against the module's reflection: every call, every alternative, every rule that can
// be checked before anything is compiled.
#pragma once

#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// All errors of all calls, or the plan. Asks Slang nothing. Ids: those of plan/feed.h and
/// "function-unknown", "function-generic", "function-ambiguous", "argument-unknown",
/// "argument-missing", "output-broadcast", "not-differentiable", "backward-input", "spec-too-many-kernels",
/// "name-duplicate".
Outcome<Plan> resolve(const Spec& spec, const Module& module);

}  // namespace kf::gen
