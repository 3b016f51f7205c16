// Loops that macros write into differentiable functions, which workarounds leave as they are.
#pragma once

#include <map>
#include <string>

#include "diagnostic/diagnostic.h"
#include "slang/workarounds/workarounds.h"

namespace kf::gen {

/// Returns a warning "gradient-unprotected" for each loop that nested_loops.h or while_loops.h would have to
/// change, is among those that are needed, but can't, as a macro's definition or arguments hold it: one of a
/// nest, and a `while` that holds break, continue or return. `sources` are texts by their paths. Only
/// functions that are marked as differentiable count; what macros stand for in other modules isn't known.
[[nodiscard]] Diagnostics hidden_loop_warnings(const std::map<std::string, std::string>& sources,
                                               const Workarounds& needed);

}  // namespace kf::gen
