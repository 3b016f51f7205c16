// The text of `kfgen list`: functions, their overloads, and the kernels that each one takes.
#pragma once

#include <string>

#include "cli/options.h"
#include "kernels/collect.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// One line a function, overload and kernel; kernels that overloads share are named where they are shared.
std::string listing(const Plan& plan, const KernelSet& kernels);

/// Returns the listing of a spec whose calls are right, as far as this shows before kernels are compiled.
Outcome<std::string> list_calls(const Spec& spec, const Options& options);

}  // namespace kf::gen
