// The files that a run is about to rename, so that the next one can finish it when it is killed in between.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "output/file_system.h"

namespace kf::gen {

/// A whole file under a temporary name, and the name it is for.
struct PlannedRename {
    std::filesystem::path temporary;
    std::filesystem::path path;
    std::string sha256;  ///< of the content, hex

    bool operator==(const PlannedRename&) const = default;
};

/// The journal's text. parse_journal gives nothing when it is damaged: then no file was renamed yet.
std::string journal_text(const std::vector<PlannedRename>& renames);
std::vector<PlannedRename> parse_journal(std::string_view text);

/// Does the renames that runs which are gone have planned in journals beside `journal`, and removes the
/// temporary files that they left beside it and `outputs`. Runs that still go on are left alone.
void finish_interrupted(FileSystem& file_system, const std::filesystem::path& journal,
                        const std::vector<std::filesystem::path>& outputs);

}  // namespace kf::gen
