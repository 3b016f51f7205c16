// Compares the gradients of one overload with differences, in every case that there is for it.
#pragma once

#include <kf/invoke.h>

#include <cstddef>

#include "check/loop_limits.h"
#include "check/report.h"
#include "check/settings.h"

namespace kf::check {

/// Fills in what it finds of each input; `report.inputs` has one for each of the call's inputs, in order,
/// with a gradient or not. Inputs without one are left as they are. `limits` may be null.
void check_call(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                LoopLimits* limits, CallReport& report);

}  // namespace kf::check
