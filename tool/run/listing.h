// What `kfgen list` prints: functions, their overloads, and the kernels that each one takes.
#pragma once

#include <string>

#include "kernels/collect.h"
#include "plan/plan.h"

namespace kf::gen {

/// One line a function, overload and kernel; kernels that overloads share are named where they are shared.
std::string listing(const Plan& plan, const KernelSet& kernels);

}  // namespace kf::gen
