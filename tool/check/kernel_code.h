// Which calls have other code in another artifact of the same spec.
#pragma once

#include <cstddef>

#include "core/manifest.h"

namespace kf::check {

/// Whether the images of a call's forward pass differ there.
bool has_other_code(const manifest::Manifest& manifest, const manifest::Manifest& other, std::size_t function,
                    std::size_t call);

}  // namespace kf::check
