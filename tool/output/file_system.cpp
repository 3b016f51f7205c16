// The disk behind one narrow interface: the real one.
#include "output/file_system.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

Diagnostic file_error(std::string id, const fs::path& path, const std::string& what, std::error_code reason) {
    const std::string why = reason ? ": " + reason.message() : "";
    return {Severity::error, std::move(id), {path.string(), 0, 0}, what + why, {}};
}

constexpr std::string_view temporary_ending = ".tmp";

/// Whether the process that "1234.5.tmp" begins with runs no more.
bool is_gone(std::string_view name) {
    pid_t process = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (failure != std::errc() || end == name.data() + name.size() || *end != '.' || process <= 0) {
        return false;
    }
    return ::kill(process, 0) != 0 && errno == ESRCH;
}

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

fs::path absolute_from(const fs::path& folder, const fs::path& path) {
    return (fs::current_path() / folder / path).lexically_normal();
}

FileStatus status_of(const struct stat& found) {
    const auto nanoseconds = [](const timespec& time) {
        return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    };
    FileStatus status;
    status.is_directory = S_ISDIR(found.st_mode);
    status.size = status.is_directory ? 0 : static_cast<std::uint64_t>(found.st_size);
    status.modified = nanoseconds(found.st_mtim);
    status.changed = nanoseconds(found.st_ctim);
    status.serial = found.st_ino;
    return status;
}

std::optional<FileStatus> DiskFileSystem::status(const fs::path& path) const {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        return std::nullopt;
    }
    return status_of(found);
}

Outcome<std::string> DiskFileSystem::read(const fs::path& path) const {
    std::error_code error;
    if (!fs::exists(path, error)) {
        return file_error("file-not-found", path, "there is no such file", {});
    }
    if (fs::is_directory(path, error)) {
        return file_error("file-unreadable", path, "this is a folder, not a file", {});
    }
    // Reading a pipe may wait for ever, and a device may have no end.
    if (!fs::is_regular_file(path, error)) {
        return file_error("file-unreadable", path, "this is no regular file", error);
    }
    if (fs::file_size(path, error) > max_file && !error) {
        return file_error("file-unreadable", path,
                          "the file is larger than " + std::to_string(max_file >> 20U) + " MiB", {});
    }
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    if (!stream || (stream.peek() != std::ifstream::traits_type::eof() && !(content << stream.rdbuf()))) {
        return file_error("file-unreadable", path, "the file can't be read", last_error());
    }
    return std::move(content).str();
}

std::optional<Diagnostic> DiskFileSystem::write(const fs::path& path, std::string_view content) {
    std::error_code error;
    if (path.has_parent_path()) {
        fs::create_directories(path.parent_path(), error);
        if (error) {
            return file_error("file-unwritable", path.parent_path(), "the folder can't be made", error);
        }
    }
    errno = 0;
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) {
        return file_error("file-unwritable", path, "the file can't be written", last_error());
    }
    return std::nullopt;
}

std::optional<Diagnostic> DiskFileSystem::rename(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) {
        return file_error("file-unwritable", to, "the file can't be replaced", error);
    }
    return std::nullopt;
}

void DiskFileSystem::remove(const fs::path& path) {
    std::error_code ignored;
    fs::remove(path, ignored);
}

fs::path DiskFileSystem::temporary_beside(const fs::path& path) {
    fs::path name = path;
    name.replace_filename("." + path.filename().string() + "." + std::to_string(::getpid()) + "." +
                          std::to_string(temporaries_++) + std::string(temporary_ending));
    return name;
}

std::vector<fs::path> DiskFileSystem::abandoned_beside(const fs::path& path) const {
    const std::string start = "." + path.filename().string() + ".";
    std::vector<fs::path> found;
    std::error_code error;
    fs::directory_iterator entry(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(start) && name.ends_with(temporary_ending) &&
            is_gone(std::string_view(name).substr(start.size()))) {
            found.push_back(path.parent_path() / name);
        }
    }
    return found;
}

}  // namespace kf::gen
