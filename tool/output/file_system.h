// The disk behind one narrow interface, so that tests need none.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

struct stat;

namespace kf::gen {

struct FileStatus {
    bool is_directory = false;
    std::uint64_t size = 0;     ///< bytes
    std::int64_t modified = 0;  ///< nanoseconds; only good for comparing with itself
    std::int64_t changed = 0;   ///< when anything about the file changed last, which no program can set
    std::uint64_t serial = 0;   ///< another one for every file of a disk
};

/// Returns the system's facts of a file as runs compare them.
[[nodiscard]] FileStatus status_of(const struct stat& found);

/// Bytes; far above any spec, module or artifact.
inline constexpr std::uint64_t max_file = std::uint64_t{1} << 30;

/// The path from the root. A relative one starts at `folder`, and that, the empty one too, at the working
/// directory.
[[nodiscard]] std::filesystem::path absolute_from(const std::filesystem::path& folder,
                                                  const std::filesystem::path& path);

/// All methods may be called from several threads at once on different paths.
class FileSystem {
public:
    virtual ~FileSystem() = default;

    /// Returns the file's status; empty when nothing is there or it can't be looked at.
    [[nodiscard]] virtual std::optional<FileStatus> status(const std::filesystem::path& path) const = 0;

    /// The whole file, which must be a regular one and no larger than max_file. Errors: "file-not-found",
    /// "file-unreadable".
    [[nodiscard]] virtual Outcome<std::string> read(const std::filesystem::path& path) const = 0;

    /// Creates or replaces the file, and its folders where they are missing. Error: "file-unwritable".
    virtual std::optional<Diagnostic> write(const std::filesystem::path& path, std::string_view content) = 0;

    /// Puts `from` in the place of `to` in one step. Error: "file-unwritable".
    virtual std::optional<Diagnostic> rename(const std::filesystem::path& from,
                                             const std::filesystem::path& to) = 0;

    /// Removes the file if it is there.
    virtual void remove(const std::filesystem::path& path) = 0;

    /// A name in the same folder that nobody else uses, for a file to be renamed to `path`.
    virtual std::filesystem::path temporary_beside(const std::filesystem::path& path) = 0;

    /// Returns those temporary names beside `path` that processes which are gone have left.
    [[nodiscard]] virtual std::vector<std::filesystem::path> abandoned_beside(
        const std::filesystem::path& path) const = 0;
};

/// The real one.
class DiskFileSystem : public FileSystem {
public:
    [[nodiscard]] std::optional<FileStatus> status(const std::filesystem::path& path) const override;
    [[nodiscard]] Outcome<std::string> read(const std::filesystem::path& path) const override;
    std::optional<Diagnostic> write(const std::filesystem::path& path, std::string_view content) override;
    std::optional<Diagnostic> rename(const std::filesystem::path& from,
                                     const std::filesystem::path& to) override;
    void remove(const std::filesystem::path& path) override;
    std::filesystem::path temporary_beside(const std::filesystem::path& path) override;
    [[nodiscard]] std::vector<std::filesystem::path> abandoned_beside(
        const std::filesystem::path& path) const override;

private:
    std::atomic<unsigned> temporaries_{0};
};

}  // namespace kf::gen
