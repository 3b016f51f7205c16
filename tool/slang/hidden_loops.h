// Loops that macros write into differentiable functions, which the way round Slang's faults leaves as they
// are.
#pragma once

#include <map>
#include <string>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// A warning "gradient-unprotected" for each loop that keep_loop_gradients() (workarounds/loops.h) would have
/// to change, but can't, as a macro's definition or arguments hold it: one of a nest, and a `while` that
/// holds break, continue or return. `sources` are texts by their paths. Only functions that are marked as
/// differentiable count; what macros stand for in other modules isn't known.
[[nodiscard]] Diagnostics hidden_loop_warnings(const std::map<std::string, std::string>& sources);

}  // namespace kf::gen
