// Derivatives of an object's methods, which Slang crashes on; found without it.
#pragma once

#include <filesystem>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Each `bwd_diff(s.method)` and `fwd_diff(s.method)` in the modules and what they import or include, and
/// each `bwd_diff(method)` within the type, whose method isn't static: Slang 2026.12 reads none of them.
[[nodiscard]] Diagnostics find_method_derivatives(const std::vector<std::filesystem::path>& modules,
                                                  const std::vector<std::filesystem::path>& search_paths);

}  // namespace kf::gen
