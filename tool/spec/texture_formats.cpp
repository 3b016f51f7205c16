// The names of textures' formats.
#include "spec/texture_formats.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/images.h"
#include "diagnostic/suggest.h"

namespace kf::gen {

namespace {

/// Slang's, which textures don't have here, and the nearest that they do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> others{{
    {"r11f_g11f_b10f", "rgba16f"},
    {"rgb10_a2", "rgba16"},
    {"rgb10_a2ui", "rgba16ui"},
    {"r64ui", "rg32ui"},
    {"r64i", "rg32i"},
    {"bgra8", "rgba8"},
}};

}  // namespace

std::optional<Diagnostic> check_format(const std::string& name, const Location& location) {
    if (texture_format_named(name)) return std::nullopt;
    Diagnostic error{Severity::error, "texture-format", location, {}, {}};
    const auto* const other =
        std::find_if(others.begin(), others.end(), [&](const auto& one) { return one.first == name; });
    if (other != others.end()) {
        error.message = "textures of the format '" + name + "' are not supported by this version of kfgen";
        error.notes.push_back("use '" + std::string(other->second) + "', and convert in Slang");
        return error;
    }
    std::vector<std::string> names;
    for (const TextureFormatInfo& format : texture_formats) names.emplace_back(format.name);
    error.message = "'" + name + "' is no format of textures";
    error.notes = suggestion_notes(name, "formats", names);
    return error;
}

}  // namespace kf::gen
