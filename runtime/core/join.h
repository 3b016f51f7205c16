// Lists in messages and in code.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace kf {

/// "a, b, c" of texts or whole numbers.
template <class Range>
[[nodiscard]] std::string join(const Range& range, std::string_view separator = ", ") {
    std::string text;
    for (const auto& one : range) {
        if (!text.empty()) text += separator;
        if constexpr (std::integral<std::remove_cvref_t<decltype(one)>>) {
            text += std::to_string(one);
        } else {
            text += one;
        }
    }
    return text;
}

/// "a, b, c" of what `text_of` returns of each.
template <class Range, class Text>
requires(!std::convertible_to<Text, std::string_view>) [[nodiscard]] std::string
    join(const Range& range, Text text_of) {
    std::string text;
    for (const auto& one : range) {
        if (!text.empty()) text += ", ";
        text += text_of(one);
    }
    return text;
}

}  // namespace kf
