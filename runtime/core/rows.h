// Rows that kernels walk: what the binder and those who build such kernels agree on.
#pragma once

#include <cstdint>

namespace kf {

/// The calls of the shortest row. Shorter ones leave most lanes of a subgroup without a call.
inline constexpr std::int64_t shortest_row = 24;

}  // namespace kf
