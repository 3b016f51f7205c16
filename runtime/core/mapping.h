// Picks among the functions whose arguments lie in different dimensions of a call.
#pragma once

#include <kf/options.h>

#include <cstddef>
#include <span>

#include "core/manifest.h"

namespace kf::detail {

/// Returns function number `index`, or the one variant of it, that places arguments so, by number. Throws
/// ArgumentError (unknown_name), with those there are, unless there is one.
std::size_t mapped_function(const manifest::Manifest& manifest, std::size_t index,
                            std::span<const Mapping> chosen);

}  // namespace kf::detail
