// Compares what calls make of their functions' own backward derivatives with what they make of differences.
#pragma once

#include <kf/module.h>

#include <array>
#include <cstddef>
#include <span>

#include "check/loop_limits.h"
#include "check/report.h"
#include "check/settings.h"
#include "core/manifest.h"

namespace kf::check {

/// Modules of the same calls with differences for derivatives, by steps that halve from one to the next.
using DifferenceModules = std::array<Module, 3>;

/// Adds an input for each of the call's floating outputs, "result, by its own bwd_diff". `limits` may be
/// null.
void check_own_derivatives(const Module& module, const DifferenceModules& differences, std::size_t function,
                           std::size_t call, const Settings& settings, LoopLimits* limits,
                           CallReport& report);

}  // namespace kf::check
