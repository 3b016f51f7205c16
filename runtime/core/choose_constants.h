// Kernels with other values of the constants that run time chooses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/manifest.h"

namespace kf::detail {

/// One value for each of Manifest::constants, as these hold them.
using ConstantValues = std::vector<std::string>;

[[nodiscard]] ConstantValues default_constants(const manifest::Manifest& manifest);

/// Counts the threads of a group along each dimension: 2^20 for as many or more, which no group has, and 0
/// for a value that isn't a number from 1 on.
[[nodiscard]] std::array<std::int64_t, 3> group_size_with(const manifest::GroupExtents& extents,
                                                          const ConstantValues& values);

/// The bits of a value, the lowest first; nothing where the type has no such value.
[[nodiscard]] std::optional<std::uint64_t> constant_bits(const std::string& text, ScalarType type);

/// Takes what run time chooses out of `given`, names and values such as "8", "0.5" and "true", and returns it
/// in place of `values`. Throws ArgumentError for function number `index`: type_mismatch and value_range for
/// what isn't a value of the constant's type, value_range for groups of no threads or too many.
[[nodiscard]] ConstantValues chosen_constants(const manifest::Manifest& manifest, std::size_t index,
                                              ConstantValues values,
                                              std::vector<std::pair<std::string, std::string>>& given);

/// "taps (int32; 4, 8), gain (float32; 0.5)": what there is to choose, and what CUDA has code for.
[[nodiscard]] std::string constants_text(const manifest::Manifest& manifest);

/// `all` with kernels that have these values: with the images for them, their group sizes, and what pipelines
/// are made with. Functions that have other values than the default ones are named after them.
[[nodiscard]] manifest::Manifest choose_constants(const manifest::Manifest& all,
                                                  const ConstantValues& values);

/// Throws ArgumentError (unknown_name) where CUDA has no code for these values.
void check_listed(const manifest::Manifest& manifest, const ConstantValues& values,
                  const std::string& backend);

}  // namespace kf::detail
