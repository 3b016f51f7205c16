// Laying out generated source: lines of at most 110 columns, lists wrapped as clang-format wraps them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// How wide a line may be.
inline constexpr std::size_t columns = 110;

/// `head` + items joined by `separator` and a space + `tail`, indented. Where that is too long for a line,
/// items are packed in lines aligned behind `head`'s end (its open bracket), or, when one doesn't fit there,
/// indented by 4 more.
std::string wrap_list(std::size_t indent, const std::string& head, const std::vector<std::string>& items,
                      const std::string& tail, const std::string& separator = ",");

/// `name` as one identifier: "ray__origin" of "ray.origin".
std::string as_identifier(std::string name);

/// Text cut at line ends; blank lines at either end, trailing spaces and trailing backslashes (which would
/// continue a comment) are dropped.
std::vector<std::string> doc_lines(std::string_view text);

/// The lines as a Python docstring, quotes and indentation included; none where there are none.
std::vector<std::string> docstring(std::size_t indent, const std::vector<std::string>& lines);

}  // namespace kf::gen
