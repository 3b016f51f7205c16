// Releases of Slang, in order.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace kf::gen {

struct SlangVersion {
    int year = 0;
    int release = 0;
    int patch = 0;

    auto operator<=>(const SlangVersion&) const = default;
};

/// Returns the release that a build tag names: "2026.12", "v2026.14.1", and of "2026.12-7-g1a2b3c", a build
/// of what came after it, 2026.12. Nothing where the tag names none.
[[nodiscard]] std::optional<SlangVersion> slang_version(std::string_view tag);

/// "2026.12", "2026.14.1".
[[nodiscard]] std::string to_string(const SlangVersion& version);

}  // namespace kf::gen
