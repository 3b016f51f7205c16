// A file in the folder says how large it is, so that few runs look at all entries.
#include "cache/bound.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds use_step = 1h;      // how exactly the last use is known
constexpr std::chrono::nanoseconds count_again = 24h;  // what ended in the middle of a run was not counted
constexpr std::uint64_t disk_block = 4096;             // bytes of a disk that the smallest file takes

/// Holds the cache's lock, while the folder's size is read and changed.
class Lock {
public:
    Lock(CacheFiles& files, const fs::path& path) : descriptor_(files.lock(path)) {}
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] bool is_held() const { return descriptor_ >= 0; }

private:
    int descriptor_;
};

std::uint64_t in_blocks(std::uint64_t bytes) { return (bytes + disk_block - 1) / disk_block * disk_block; }

std::chrono::nanoseconds age_of(const FileStatus& file) {
    return std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(file.modified);
}

std::optional<std::uint64_t> noted_size(const CacheFiles& files, const fs::path& note,
                                        const std::optional<FileStatus>& status) {
    if (!status || age_of(*status) > count_again) return std::nullopt;
    const Outcome<std::string> text = files.read(note);
    std::uint64_t size = 0;
    if (!text) return std::nullopt;
    const char* const begin = text.value().data();
    const auto [end, failure] = std::from_chars(begin, begin + text.value().size(), size);
    return failure == std::errc() ? std::optional(size) : std::nullopt;
}

struct Entry {
    fs::path path;
    std::uint64_t size = 0;
    std::int64_t used = 0;
};

std::vector<Entry> entries_of(const CacheFiles& files, const fs::path& folder) {
    std::vector<Entry> entries;
    for (const fs::path& part : files.list(folder)) {
        const std::string name = part.filename().string();
        const bool is_part =
            name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
        if (!is_part) continue;
        for (const fs::path& path : files.list(part)) {
            const auto file = files.status(path);  // another process may remove it meanwhile
            if (file && !file->is_directory) entries.push_back({path, in_blocks(file->size), file->modified});
        }
    }
    return entries;
}

/// Returns how large the folder is then.
std::uint64_t trim(CacheFiles& files, const fs::path& folder, std::uint64_t limit) {
    std::vector<Entry> entries = entries_of(files, folder);
    std::uint64_t all = 0;
    for (const Entry& entry : entries) all += entry.size;
    if (all <= limit) return all;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    const std::uint64_t goal = limit / 10 * 9;  // so that the next run needn't do the same
    for (const Entry& entry : entries) {
        if (all <= goal) break;
        files.remove(entry.path);
        if (!files.status(entry.path)) all -= entry.size;
    }
    return all;
}

}  // namespace

void mark_used(CacheFiles& files, const fs::path& entry) {
    const auto file = files.status(entry);
    if (file && age_of(*file) > use_step) files.set_modified(entry, std::nullopt);
}

void bound_folder(CacheFiles& files, const fs::path& folder, std::uint64_t limit, std::uint64_t kept) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) return;
    const Lock lock(files, folder / "lock");
    if (!lock.is_held()) return;
    const fs::path note = folder / "size";
    const auto before = files.status(note);
    const std::optional<std::uint64_t> noted = noted_size(files, note, before);
    std::uint64_t size = noted.value_or(0) + kept;
    const bool counts = !noted || size > limit;
    if (counts) size = trim(files, folder, limit);
    if (!counts && kept == 0) return;
    // A new file, whose time would say that it was counted now.
    if (!files.write(note, std::to_string(size) + '\n') && !counts)
        files.set_modified(note, before->modified);
}

}  // namespace kf::gen
