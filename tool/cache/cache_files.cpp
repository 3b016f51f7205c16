// The files of a cache's folder, none of which leads out of it.
#include "cache/cache_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool is_open() const { return number_ >= 0; }
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_;
};

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

int open_root(const fs::path& folder) { return ::open(folder.empty() ? "." : folder.c_str(), folder_flags); }

/// The folder that a path lies in, whatever it is called by: its own one, or a part of that. -1 where it is
/// a link.
int open_folder(const fs::path& folder, const fs::path& path, bool makes = false) {
    Descriptor root(open_root(folder));
    const fs::path part = path.lexically_relative(folder).parent_path();
    if (!root.is_open() || part.empty()) return root.release();
    if (makes) (void)::mkdirat(root.get(), part.c_str(), 0777);
    return ::openat(root.get(), part.c_str(), folder_flags | O_NOFOLLOW);
}

Diagnostic file_error(const char* id, const fs::path& path, const std::string& what) {
    return {
        Severity::error, id, {path.string(), 0, 0}, what + ": " + std::generic_category().message(errno), {}};
}

std::optional<Diagnostic> unwritable(const fs::path& path) {
    return file_error("file-unwritable", path, "the file can't be written");
}

}  // namespace

std::optional<FileStatus> CacheFiles::status(const fs::path& path) const {
    const Descriptor folder(open_folder(folder_, path));
    struct stat found {};
    if (!folder.is_open() ||
        ::fstatat(folder.get(), path.filename().c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)))
        return std::nullopt;
    return status_of(found);
}

Outcome<std::string> CacheFiles::read(const fs::path& path) const {
    const Descriptor folder(open_folder(folder_, path));
    // A pipe that is in the file's place is waited for by nobody.
    const Descriptor file(folder.is_open() ? ::openat(folder.get(), path.filename().c_str(),
                                                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                           : -1);
    struct stat found {};
    if (!file.is_open() || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
        static_cast<std::uint64_t>(found.st_size) > max_file)
        return file_error("file-unreadable", path, "the file can't be read");
    std::string content(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t size = 0;
    while (size < content.size()) {
        const ssize_t part = ::read(file.get(), content.data() + size, content.size() - size);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return file_error("file-unreadable", path, "the file can't be read");
        if (part == 0) break;
        size += static_cast<std::size_t>(part);
    }
    content.resize(size);
    return content;
}

std::optional<Diagnostic> CacheFiles::write(const fs::path& path, std::string_view content) {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    const Descriptor folder(open_folder(folder_, path, true));
    if (!folder.is_open()) return unwritable(path);
    const std::string name = path.filename().string();
    (void)::unlinkat(folder.get(), name.c_str(), 0);
    const Descriptor file(
        ::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file.is_open()) return unwritable(path);
    while (!content.empty()) {
        const ssize_t part = ::write(file.get(), content.data(), content.size());
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return unwritable(path);
        content.remove_prefix(static_cast<std::size_t>(part));
    }
    return std::nullopt;
}

std::optional<Diagnostic> CacheFiles::rename(const fs::path& from, const fs::path& to) {
    const Descriptor folder(open_folder(folder_, to));
    if (!folder.is_open() ||
        ::renameat(folder.get(), from.filename().c_str(), folder.get(), to.filename().c_str()) != 0)
        return unwritable(to);
    return std::nullopt;
}

void CacheFiles::remove(const fs::path& path) {
    const Descriptor folder(open_folder(folder_, path));
    if (folder.is_open()) (void)::unlinkat(folder.get(), path.filename().c_str(), 0);
}

std::vector<fs::path> CacheFiles::abandoned_beside(const fs::path& path) const {
    return Descriptor(open_folder(folder_, path)).is_open() ? DiskFileSystem::abandoned_beside(path)
                                                            : std::vector<fs::path>();
}

void CacheFiles::set_modified(const fs::path& path, std::optional<std::int64_t> time) {
    constexpr std::int64_t second = 1'000'000'000;
    timespec last{};
    if (time) {
        last.tv_sec = static_cast<time_t>(*time / second);
        last.tv_nsec = static_cast<long>(*time % second);
    } else {
        last.tv_nsec = UTIME_NOW;
    }
    const timespec times[2] = {{0, UTIME_OMIT}, last};
    const Descriptor folder(open_folder(folder_, path));
    if (folder.is_open())
        (void)::utimensat(folder.get(), path.filename().c_str(), times, AT_SYMLINK_NOFOLLOW);
}

int CacheFiles::lock(const fs::path& path) {
    const Descriptor folder(open_folder(folder_, path));
    if (!folder.is_open()) return -1;
    Descriptor file(::openat(folder.get(), path.filename().c_str(),
                             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    return file.is_open() && ::flock(file.get(), LOCK_EX) == 0 ? file.release() : -1;
}

std::vector<fs::path> CacheFiles::list(const fs::path& folder) const {
    Descriptor opened(open_folder(folder_, folder / "."));
    DIR* const stream = opened.is_open() ? ::fdopendir(opened.get()) : nullptr;
    if (stream == nullptr) return {};
    (void)opened.release();
    std::vector<fs::path> found;
    while (const dirent* const entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") found.push_back(folder / name);
    }
    ::closedir(stream);
    return found;
}

}  // namespace kf::gen
