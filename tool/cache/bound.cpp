// A file in the folder says how large it is, so that few runs look at all entries.
#include "cache/bound.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::hours use_step = 1h;      // how exactly the last use is known
constexpr std::chrono::hours count_again = 24h;  // what ended in the middle of a run was not counted
constexpr std::uint64_t disk_block = 4096;       // bytes of a disk that the smallest file takes

/// Held while the folder's size is looked at and changed.
class Lock {
public:
    explicit Lock(const fs::path& file)
        : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
    }
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

std::optional<std::uint64_t> noted_size(const fs::path& note) {
    std::error_code failure;
    const fs::file_time_type written = fs::last_write_time(note, failure);
    if (failure || fs::file_time_type::clock::now() - written > count_again) return std::nullopt;
    std::ifstream file(note);
    std::uint64_t size = 0;
    return file >> size ? std::optional(size) : std::nullopt;
}

struct Entry {
    fs::path path;
    std::uint64_t size = 0;
    fs::file_time_type used;
};

std::vector<Entry> entries_of(const fs::path& folder) {
    std::vector<Entry> entries;
    std::error_code failure;
    for (const fs::directory_entry& part : fs::directory_iterator(folder, failure)) {
        const std::string name = part.path().filename().string();
        const bool is_part =
            name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
        if (!is_part || !part.is_directory(failure)) continue;
        for (const fs::directory_entry& file : fs::directory_iterator(part.path(), failure)) {
            std::error_code gone;  // another process may remove it meanwhile
            const std::uint64_t size = file.file_size(gone);
            const fs::file_time_type used = file.last_write_time(gone);
            if (!gone) entries.push_back({file.path(), in_blocks(size), used});
        }
    }
    return entries;
}

/// Returns how large the folder is then.
std::uint64_t trim(const fs::path& folder, std::uint64_t limit) {
    std::vector<Entry> entries = entries_of(folder);
    std::uint64_t all = 0;
    for (const Entry& entry : entries) all += entry.size;
    if (all <= limit) return all;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    const std::uint64_t goal = limit / 10 * 9;  // so that the next run needn't do the same
    for (const Entry& entry : entries) {
        if (all <= goal) break;
        std::error_code failure;
        fs::remove(entry.path, failure);
        if (!failure) all -= entry.size;
    }
    return all;
}

}  // namespace

void mark_used(const fs::path& entry) {
    std::error_code failure;
    const fs::file_time_type now = fs::file_time_type::clock::now();
    const fs::file_time_type used = fs::last_write_time(entry, failure);
    if (!failure && now - used > use_step) fs::last_write_time(entry, now, failure);
}

void bound_folder(const fs::path& folder, std::uint64_t limit, std::uint64_t kept) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) return;
    const Lock lock(folder / "lock");
    if (!lock.is_held()) return;
    const fs::path note = folder / "size";
    const std::optional<std::uint64_t> noted = noted_size(note);
    std::uint64_t size = noted.value_or(0) + kept;
    const bool counts = !noted || size > limit;
    if (counts) size = trim(folder, limit);
    if (!counts && kept == 0) return;
    // Written in place, the file's time would say that it was counted now.
    const fs::file_time_type counted =
        counts ? fs::file_time_type::clock::now() : fs::last_write_time(note, failure);
    std::ofstream(note) << size << '\n';
    fs::last_write_time(note, counted, failure);
}

}  // namespace kf::gen
