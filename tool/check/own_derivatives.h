// Compares what calls make of their functions' own backward derivatives with what they make of differences.
#pragma once

#include <kf/module.h>

#include <array>
#include <cstddef>
#include <span>

#include "check/report.h"
#include "check/settings.h"
#include "core/manifest.h"

namespace kf::check {

/// The same calls with differences for derivatives, by steps that halve from one to the next.
using DifferenceModules = std::array<Module, 3>;

/// Whether a call's code differs there: that it takes derivatives itself.
bool takes_derivatives(const manifest::Manifest& manifest, const manifest::Manifest& differences,
                       std::size_t function, std::size_t call);

/// Adds an input for each of the call's floating outputs, "result, by its own bwd_diff".
void check_own_derivatives(const Module& module, const DifferenceModules& differences, std::size_t function,
                           std::size_t call, const Settings& settings, CallReport& report);

}  // namespace kf::check
