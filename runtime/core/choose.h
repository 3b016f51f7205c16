// Picks among the functions that a call spec's ways to accumulate make of one.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <span>

#include "core/manifest.h"

namespace kf::detail {

/// Returns function number `index` with `chosen` beside what it was chosen for already, by number. Throws
/// ArgumentError (unknown_name).
std::size_t chosen_function(const manifest::Manifest& manifest, std::size_t index,
                            std::span<const Accumulation> chosen);

}  // namespace kf::detail
