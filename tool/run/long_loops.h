// Loops that Mesa's CPU driver would end early, and not say so.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

/// Warnings ("loop-llvmpipe") for loops that run too often for llvmpipe, as far as numbers in the sources
/// show. None where the spec has no Vulkan among its targets. `sources`: what was read, by path.
[[nodiscard]] Diagnostics loop_warnings(
    const Spec& spec, const std::vector<std::pair<std::filesystem::path, std::string>>& sources);

}  // namespace kf::gen
