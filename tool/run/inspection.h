// What `kfgen inspect` prints: all that an artifact says about itself.
#pragma once

#include <filesystem>
#include <string>

#include "core/manifest.h"
#include "diagnostic/diagnostic.h"
#include "output/file_system.h"

namespace kf::gen {

/// Functions with their overloads; then kernels with what each takes, needs and holds. Sizes are bytes.
std::string inspection(const manifest::Manifest& manifest);

/// Reads and verifies an artifact. Errors: "artifact-missing", "artifact-corrupt", "artifact-version".
Outcome<manifest::Manifest> read_artifact(const std::filesystem::path& path, const FileSystem& file_system);

}  // namespace kf::gen
