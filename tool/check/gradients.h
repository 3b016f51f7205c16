// Checks every gradient of an artifact on a device.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "check/loop_limits.h"
#include "check/report.h"
#include "check/settings.h"
#include "core/manifest.h"

namespace kf::check {

/// Why an input that has no gradient has none, where more is known of it than the artifact says; else
/// nothing.
using Explain = std::function<std::string(std::size_t function, std::size_t call, std::size_t argument)>;

/// Returns the reason that the artifact alone gives; empty for an input with a gradient.
std::string why_no_gradient(const manifest::Call& call, const manifest::Argument& argument);

/// Three versions of the artifact with differences in place of its functions' own backward derivatives, by
/// steps that halve; none where there is nothing to compare.
using OwnDifferences = std::vector<std::vector<std::byte>>;

/// Called with the step that is about to be done: "opening the device", "checking" and an overload.
using Progress = std::function<void(const std::string& step)>;

/// `loops`: those that the artifact's functions may end too early, which is looked at where there are any.
/// Opens the device, loads the artifact, and runs all there is to run. Throws Error: no device, no artifact,
/// or one that the device can't run; ArgumentError (unknown_name) for a function in `except` that isn't
/// there.
Report check_gradients(std::span<const std::byte> artifact, const Settings& settings,
                       const Explain& explain = {}, const OwnDifferences& differences = {},
                       const LimitedLoops& loops = {}, const Progress& progress = {});

}  // namespace kf::check
