// Bytes kept between runs under the hash of all that they were made from.
#include "cache/content_cache.h"

#include "cache/hash.h"

namespace kf::gen {
namespace {

constexpr std::size_t hash_length = 64;

/// The entry's first line: it ties the bytes to the key, so that mixed-up files are found out too.
std::string seal(std::string_view key, std::string_view content) { return hash_parts({key, content}) + '\n'; }

}  // namespace

std::optional<std::string> ContentCache::find(std::string_view key) const {
    const std::filesystem::path path = path_of(key);
    if (!file_system_.status(path)) {
        return std::nullopt;
    }
    Outcome<std::string> entry = file_system_.read(path);
    if (!entry || entry.value().size() < hash_length + 1) {
        return std::nullopt;
    }
    const std::string_view text = entry.value();
    const std::string_view content = text.substr(hash_length + 1);
    if (text.substr(0, hash_length + 1) != seal(key, content)) {
        return std::nullopt;
    }
    mark_used(own_, path);
    return std::string(content);
}

bool ContentCache::keep(std::string_view key, std::string_view content) {
    const std::filesystem::path path = path_of(key);
    for (const std::filesystem::path& left : file_system_.abandoned_beside(path)) {
        file_system_.remove(left);
    }
    const std::filesystem::path temporary = file_system_.temporary_beside(path);
    std::string entry = seal(key, content);
    entry += content;
    if (file_system_.write(temporary, entry) || file_system_.rename(temporary, path)) {
        file_system_.remove(temporary);
        return false;
    }
    kept_ += entry.size();
    return true;
}

std::filesystem::path ContentCache::path_of(std::string_view key) const {
    return folder_ / key.substr(0, 2) / key.substr(2);
}

}  // namespace kf::gen
