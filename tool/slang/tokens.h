// A source's tokens, and what its directives say of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace kf::gen {

using Names = std::set<std::string_view, std::less<>>;

struct Token {
    std::string_view text;  ///< a word, or one character; a literal counts as a character
    std::size_t offset = 0;
    bool word = false;
    bool conditional = false;    ///< within an #if
    std::size_t directives = 0;  ///< how many are before it
};

enum class Directive : std::uint8_t { other, begins, turns, ends };

struct Tokens {
    std::vector<Token> all;
    std::vector<Directive> directives;
    std::vector<std::size_t> branches;  ///< offsets of the lines after #else, #elif and #endif
    Names attributes;                   ///< macros that stand for attributes, of which one is Differentiable
    Names names;                        ///< macros that stand for the word alone
    Names scalars;                      ///< macros that stand for a floating scalar
    bool counts_lines = true;
    bool states_language = false;  ///< by `#language`, outside of #if
    bool defines_public = false;   ///< a macro may write `public`

    /// Tells whether the word marks a function as differentiable: the attribute, or a macro that stands for
    /// it.
    [[nodiscard]] bool marks_differentiable(std::string_view word) const;
};

template <class Word, class... Words>
bool is_one_of(const Word& word, const Words&... words) {
    return ((word == words) || ...);
}

/// half, float and double, under each of Slang's names.
[[nodiscard]] bool is_scalar(std::string_view name);

/// The attribute, without its brackets.
[[nodiscard]] bool says_differentiable(std::string_view word);

/// `public`, `internal` or `private`.
[[nodiscard]] bool says_access(std::string_view word);

/// Comments are left out. All refers to `text`.
[[nodiscard]] Tokens tokenise(std::string_view text);

}  // namespace kf::gen
