// Texts in columns, and counts of things.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace kf::gen {

/// Returns the text with spaces behind it, up to the width.
inline std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

/// Returns the text with spaces before it, up to the width.
inline std::string right(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// "1 overload", "2 overloads".
template <class Count>
std::string counted(Count count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace kf::gen
