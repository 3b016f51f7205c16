// Keeps a cache's folder from growing without end.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cache/cache_files.h"

namespace kf::gen {

/// Says that the entry was used: what wasn't for longest goes first.
void mark_used(CacheFiles& files, const std::filesystem::path& entry);

/// Removes entries until the folder is well below `limit` bytes, if it has grown beyond; `kept`: bytes that
/// were written since the last call. Several processes may call it at once. What can't be removed stays, and
/// a folder that isn't there is none.
void bound_folder(CacheFiles& files, const std::filesystem::path& folder, std::uint64_t limit,
                  std::uint64_t kept);

}  // namespace kf::gen
