// Brackets and `<…>` in a text's lexemes, tokens or pieces: one set of rules for all that reads Slang's text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "slang/tokens.h"

namespace kf::gen {

// A text here has a size(), and by its [] the words at all places, which are empty behind its end.

[[nodiscard]] inline bool opens_bracket(std::string_view word) { return is_one_of(word, "(", "[", "{"); }
[[nodiscard]] inline bool closes_bracket(std::string_view word) { return is_one_of(word, ")", "]", "}"); }

/// Returns the bracket that closes the one at `open`; size() where none does, and `open` where it is no
/// bracket.
template <class Text>
[[nodiscard]] std::size_t closing_bracket(const Text& text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        depth += (opens_bracket(text[at]) ? 1 : 0) - (closes_bracket(text[at]) ? 1 : 0);
        if (depth <= 0) return at;
    }
    return text.size();
}

/// Returns the bracket that the one at `close` closes; 0 where none does, and `close` where it is no bracket.
template <class Text>
[[nodiscard]] std::size_t opening_bracket(const Text& text, std::size_t close) {
    int depth = 0;
    for (std::size_t at = close; at > 0; --at) {
        depth += (closes_bracket(text[at]) ? 1 : 0) - (opens_bracket(text[at]) ? 1 : 0);
        if (depth <= 0) return at;
    }
    return 0;
}

/// Returns the place behind the `>` that closes the `<` at `open`; `open` where that is no `<`, or none
/// closes it before the brackets around it, or its statement, end, or a body begins.
template <class Text>
[[nodiscard]] std::size_t behind_angles(const Text& text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (is_one_of(text[at], ";", "{") || closes_bracket(text[at])) return open;
        depth += text[at] == "<" ? 1 : text[at] == ">" ? -1 : 0;
        if (depth <= 0) return depth == 0 && at > open ? at + 1 : open;
        if (is_one_of(text[at], "(", "[")) at = closing_bracket(text, at);
    }
    return open;
}

/// Returns the `<` that the `>` at `close` closes; `close` where there is none.
template <class Text>
[[nodiscard]] std::size_t opening_angle(const Text& text, std::size_t close) {
    int depth = 0;
    for (std::size_t at = close; at > 0 && !is_one_of(text[at], ";", "{", "}"); --at) {
        depth += text[at] == ">" ? 1 : text[at] == "<" ? -1 : 0;
        if (depth <= 0) return at;
    }
    return close;
}

/// Returns the place behind a bracket's pair or a `<…>`; `at + 1` where none opens there.
template <class Text>
[[nodiscard]] std::size_t behind_group(const Text& text, std::size_t at) {
    if (opens_bracket(text[at])) return closing_bracket(text, at) + 1;
    return std::max(behind_angles(text, at), at + 1);
}

/// Returns the first of these words from `at` on that is in no bracket or `<…>`; `end` where there is none.
template <class Text, class... Words>
[[nodiscard]] std::size_t find_outside(const Text& text, std::size_t at, std::size_t end,
                                       const Words&... words) {
    while (at < end && !is_one_of(text[at], words...)) at = behind_group(text, at);
    return std::min(at, end);
}

}  // namespace kf::gen
