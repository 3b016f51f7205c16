// `kfgen inspect --extract`: kernel images as files, and what else the artifact says as JSON.
#pragma once

#include <filesystem>
#include <vector>

#include "core/manifest.h"
#include "output/sink.h"

namespace kf::gen {

/// FUNCTION.PASS.VARIANT.spv, FUNCTION.PASS.VARIANT.sm_90.cubin … in the folder, each image once, under the
/// name of its first kernel, and manifest.json, which says whose file is which.
std::vector<OutputFile> extracted_files(const manifest::Manifest& manifest,
                                        const std::filesystem::path& folder);

}  // namespace kf::gen
