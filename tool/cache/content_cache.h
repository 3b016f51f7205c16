// Bytes kept between runs under the hash of all that they were made from.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cache/bound.h"
#include "output/file_system.h"

namespace kf::gen {

/// A folder of files; several processes and threads may use it at once. It may be deleted at any time.
class ContentCache {
public:
    explicit ContentCache(const std::filesystem::path& folder) : folder_(folder), own_(folder) {}
    /// `file_system` keeps the entries, and must outlive the cache.
    ContentCache(FileSystem& file_system, const std::filesystem::path& folder)
        : folder_(folder), own_(folder), file_system_(file_system) {}

    /// `key` is hexadecimal, at least 3 digits. A damaged entry counts as none.
    [[nodiscard]] std::optional<std::string> find(std::string_view key) const;

    /// False when the entry can't be written: a cache that doesn't work makes a run slower, not wrong.
    bool keep(std::string_view key, std::string_view content);

    /// Removes what wasn't used for longest, if the folder has become larger than so many bytes.
    void bound(std::uint64_t limit) { bound_folder(own_, folder_, limit, kept_.exchange(0)); }

private:
    [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;

    std::filesystem::path folder_;
    mutable CacheFiles own_;
    FileSystem& file_system_ = own_;
    std::atomic<std::uint64_t> kept_{0};  ///< bytes, since bound()
};

}  // namespace kf::gen
