// Writes a function that stands for a backward derivative, and finds its gradients by central differences.
#pragma once

#include <string>

#include "diagnostic/diagnostic.h"
#include "slang/module.h"

namespace kf::gen {

/// Writes the central differences of a function whose differentiable parameters and result are numbers and
/// vectors, as a function named `name` with the parameters of `bwd_diff(function)`. Steps suit values around
/// 1, times `factor`.
Outcome<std::string> emit_differences(const Function& function, const std::string& name, double factor);

/// Whether the backward derivative has a gradient of it.
bool is_differentiated(const Parameter& parameter);

}  // namespace kf::gen
