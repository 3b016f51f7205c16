// Entry points that no call names: stages of other pipelines stand beside functions that are called.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Returns the macros of the files and of the command line that make entry points.
[[nodiscard]] std::set<std::string> entry_macros(
    const std::map<std::filesystem::path, std::string>& texts,
    const std::vector<std::pair<std::string, std::string>>& defines);

/// Drops the warnings about what stands in entry points of the files that none of `called` names.
void drop_uncalled_entries(const std::map<std::filesystem::path, std::string>& texts,
                           const std::set<std::string>& macros, const std::vector<std::string>& called,
                           Diagnostics& warnings);

}  // namespace kf::gen
