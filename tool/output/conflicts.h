// Files that a run would write over what it reads, or over another output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct WrittenFile {
    std::filesystem::path path;
    std::string what;  ///< "--depfile", or "the output"
};

/// An "output-conflict" for every file of `written` that is in `read`, or that one before it writes too,
/// whatever their paths are spelled like.
Diagnostics output_conflicts(const std::vector<WrittenFile>& written,
                             const std::vector<std::filesystem::path>& read);

}  // namespace kf::gen
