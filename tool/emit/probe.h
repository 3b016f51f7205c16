// Writes a kernel that shows what functions reach beside their parameters.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

/// The kinds of globals that functions may reach beside their arguments.
struct ProbedGlobals {
    bool tensors = false;
    bool textures = false;
};

/// Calls each function, and its derivatives where the plan has them, with arguments from anywhere. Nothing
/// else is in it, neither parameters nor the library's sums, so that all it reaches is the functions'. Calls
/// that differ in what the host gives only come out the same. It is to be compiled, not to be run.
Outcome<KernelSource> emit_probe(const Plan& plan, const std::vector<const PlannedCall*>& calls,
                                 ProbedGlobals globals = {});

}  // namespace kf::gen
