// Parameters with default values, which the spec and the host may leave out.
#pragma once

#include <vector>

#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// The functions that the call means when it leaves out their last parameters, which have default values:
/// without these parameters. None where a function has just the parameters that the call lists.
std::vector<Function> with_defaults(const CallSpec& call, const Module& module,
                                    const std::vector<Function>& shared);

/// The call as hosts make it that leave out the last arguments, one more each time, since all of `candidates`
/// have default values for them. A call with derivatives has no such.
std::vector<CallSpec> shorter_calls(const CallSpec& call, const std::vector<const Function*>& candidates);

}  // namespace kf::gen
