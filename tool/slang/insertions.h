// What is put into a source's text for Slang alone, where errors still name the places of the text as it was.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "slang/tokens.h"

namespace kf::gen {

/// Texts by the offset that they are put at.
using Insertions = std::map<std::size_t, std::string>;

/// `text` with the insertions, of which empty ones count for nothing. Lines and columns of all else stay, by
/// `#line` and blanks, unless the text has a #line itself. `tokens` are the text's.
[[nodiscard]] std::string with_insertions(std::string_view text, const Tokens& tokens, Insertions insertions);

/// Lines from 1.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

/// Returns the column in characters from 1, as Slang counts, not in bytes.
[[nodiscard]] std::size_t column_at(std::string_view text, std::size_t offset);

}  // namespace kf::gen
