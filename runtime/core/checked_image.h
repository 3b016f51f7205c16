// Images that are checked when they are first needed.
#pragma once

#include <string>

#include "core/manifest.h"

namespace kf::manifest {

/// The image's bytes, which are what its digest says: a copy where they weren't checked before, which the
/// file that they lie in can't change any more. `kernel`: whose it is. Throws ArtifactError
/// (artifact_corrupt).
[[nodiscard]] SharedBytes checked_bytes(const Image& image, const std::string& kernel);

}  // namespace kf::manifest
