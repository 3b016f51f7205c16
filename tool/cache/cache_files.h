// The files of a cache's folder, none of which leads out of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "output/file_system.h"

namespace kf::gen {

/// Paths are FOLDER/PART/NAME or FOLDER/NAME. The folder may be a symbolic link, as it is whose cache it is;
/// what is in it may be anybody's, so that links in it aren't followed: a file that is one isn't there, and
/// is replaced when it is written.
class CacheFiles final : public DiskFileSystem {
public:
    explicit CacheFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

    [[nodiscard]] std::optional<FileStatus> status(const std::filesystem::path& path) const override;
    [[nodiscard]] Outcome<std::string> read(const std::filesystem::path& path) const override;
    std::optional<Diagnostic> write(const std::filesystem::path& path, std::string_view content) override;
    std::optional<Diagnostic> rename(const std::filesystem::path& from,
                                     const std::filesystem::path& to) override;
    void remove(const std::filesystem::path& path) override;
    [[nodiscard]] std::vector<std::filesystem::path> abandoned_beside(
        const std::filesystem::path& path) const override;

    /// Sets when the file was changed last, in nanoseconds as FileStatus has it; nothing for now.
    void set_modified(const std::filesystem::path& path, std::optional<std::int64_t> time);
    /// Waits for the file's lock, which is made where it is missing; returns its descriptor, which holds the
    /// lock until it is closed, or -1.
    [[nodiscard]] int lock(const std::filesystem::path& path);
    /// Returns the names in the folder: its parts, or the files in one of those.
    [[nodiscard]] std::vector<std::filesystem::path> list(const std::filesystem::path& folder) const;

private:
    std::filesystem::path folder_;
};

}  // namespace kf::gen
