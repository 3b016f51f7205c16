// How deep a text nests: compilers read brackets within brackets on the stack.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// "slang-nesting" at the first bracket that is in more than max_nesting others.
std::optional<Diagnostic> check_nesting(std::string_view text, const std::filesystem::path& file);

inline constexpr int max_nesting = 256;

}  // namespace kf::gen
