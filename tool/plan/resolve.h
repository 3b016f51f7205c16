// Resolves a spec against the module's reflection: every call, every alternative, every rule that can
// be checked before anything is compiled.
#pragma once

#include "plan/host_structs.h"
#include "plan/plan.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// All errors of all calls, or the plan. Asks `types` about generic functions and interfaces only; without
/// it there are no types but those in the module. `hosts` stand for structs. Ids: those of
/// plan/kind_target.h, plan/instance.h and "function-unknown", "function-ambiguous", "function-overload",
/// "argument-unknown", "argument-missing", "output-broadcast", "not-differentiable", "backward-input",
/// "spec-too-many-kernels", "name-duplicate".
Outcome<Plan> resolve(const Spec& spec, const Module& module, TypeLookup* types = nullptr,
                      const HostStructs& hosts = {});

}  // namespace kf::gen
