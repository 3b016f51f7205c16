// How commands print one overload of a function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/manifest.h"

namespace kf::gen {

/// "(a: value<float>, out x: tensor<float>[2]) -> tensor<float>[1], rank 2": kinds as a spec spells them.
std::string overload_text(const std::vector<manifest::Argument>& arguments, std::int64_t rank);

}  // namespace kf::gen
