// Reads build tags.
#include "slang/slang_version.h"

#include <charconv>

namespace kf::gen {

namespace {

/// Takes the number that the text begins with.
std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take_dot(std::string_view& text) {
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<SlangVersion> slang_version(std::string_view tag) {
    if (tag.starts_with('v')) tag.remove_prefix(1);
    const std::optional<int> year = take_number(tag);
    if (!year || !take_dot(tag)) return std::nullopt;
    const std::optional<int> release = take_number(tag);
    if (!release) return std::nullopt;
    SlangVersion version{*year, *release, 0};
    if (take_dot(tag)) {
        const std::optional<int> patch = take_number(tag);
        if (!patch) return std::nullopt;
        version.patch = *patch;
    }
    return tag.empty() || tag.starts_with('-') ? std::optional(version) : std::nullopt;
}

std::string to_string(const SlangVersion& version) {
    std::string text = std::to_string(version.year) + "." + std::to_string(version.release);
    if (version.patch != 0) text += "." + std::to_string(version.patch);
    return text;
}

}  // namespace kf::gen
