// The text of `kfgen inspect`: all that an artifact says about itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/manifest.h"
#include "diagnostic/diagnostic.h"
#include "output/file_system.h"
#include "run/passes.h"

namespace kf::gen {

/// Functions with their overloads; then kernels with what each takes, needs and holds. Sizes are bytes.
std::string inspection(const manifest::Manifest& manifest);

// Parts of inspection(), for `kfgen explain`, which prints the same of kernels without an artifact.

/// "blend, 2 overloads".
std::string function_heading(const std::string& name, std::size_t overloads);

/// An overload, and a line for each pass that has kernels, with their numbers.
std::string overload_lines(const std::string& overload, const std::array<NamedPass, 6>& passes);

/// How many kernels hold an image, by its SHA-256.
using ImageHolders = std::map<std::array<std::uint8_t, 32>, int>;

/// A kernel with what it takes, and its images; `holders` say which of those others have, too.
std::string kernel_text(std::size_t index, const manifest::Kernel& kernel, const ImageHolders& holders = {});

/// Reads and verifies an artifact. Errors: "artifact-missing", "artifact-corrupt", "artifact-version".
Outcome<manifest::Manifest> read_artifact(const std::filesystem::path& path, const FileSystem& file_system);

}  // namespace kf::gen
