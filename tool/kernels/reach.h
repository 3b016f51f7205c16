// Refuses calls whose functions depend on more than their arguments.
#pragma once

#include <string>
#include <vector>

#include "kernels/compile.h"
#include "plan/globals.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

struct ReachSettings {
    std::vector<CodeTarget> targets;
    KernelStore* store = nullptr;               ///< keeps which probes found nothing; not owned; may be null
    const CodeKeys* keys = nullptr;             ///< as CompileJob's
    std::vector<GlobalParameter> globals = {};  ///< that calls may reach, as the host sets them
};

struct ReachReport {
    /// "global-parameter", "mutable-static", "thread-dependent"; "slang-loop-start" for CUDA alone;
    /// "slang-timeout", "slang-memory".
    Diagnostics errors;
    /// Why some calls could not be looked at. Their kernels fail in the same way, and say it better.
    Diagnostics failures;
    ReachedGlobals globals = {};  ///< of ReachSettings::globals
};

/// Looks at what Slang makes of every function that the plan calls, for each target, before any kernel is
/// compiled. Functions are looked at together; one by one where something is found, or one doesn't compile.
ReachReport check_reach(const Plan& plan, const ReachSettings& settings, Compiler& compiler);

}  // namespace kf::gen
