// What Slang counts wrongly.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// "slang-countof" at the first `countof(…)` of what isn't a type pack: of arrays and tuples Slang gives the
/// bytes of an element.
std::optional<Diagnostic> check_pack_counts(std::string_view text, const std::filesystem::path& file);

}  // namespace kf::gen
