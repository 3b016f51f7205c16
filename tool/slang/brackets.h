// Brackets, statements and names among a text's tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "slang/matching.h"
#include "slang/tokens.h"

namespace kf::gen {

/// A view of tokens that has empty ones before the first and after the last.
class TokenView {
public:
    explicit TokenView(const Tokens& tokens) : tokens_(tokens) {}

    [[nodiscard]] std::size_t size() const { return tokens_.all.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t at) const {
        return at < size() ? tokens_.all[at].text : std::string_view();
    }
    [[nodiscard]] std::string_view token(std::size_t at) const { return (*this)[at]; }
    [[nodiscard]] bool is_word(std::size_t at) const { return at < size() && tokens_.all[at].word; }
    /// Where the token begins in the text.
    [[nodiscard]] std::size_t offset(std::size_t at) const { return tokens_.all[at].offset; }

    [[nodiscard]] bool opens(std::size_t at) const { return opens_bracket((*this)[at]); }
    [[nodiscard]] bool closes(std::size_t at) const { return closes_bracket((*this)[at]); }

    /// Returns the token after the bracket that closes the one at `at`; `at + 1` where that is no bracket.
    [[nodiscard]] std::size_t after_bracket(std::size_t at) const {
        return std::min(closing_bracket(*this, at), size() - 1) + 1;
    }
    /// Returns the bracket that the one at `at` closes.
    [[nodiscard]] std::size_t opening_bracket(std::size_t at) const {
        return gen::opening_bracket(*this, at);
    }
    /// Returns the `<` that the `>` at `at` closes; `at` where there is none.
    [[nodiscard]] std::size_t opening_angle(std::size_t at) const { return gen::opening_angle(*this, at); }
    /// Tells whether what stands before `at` is changed there: by `=`, `+=` and the like, or `++`.
    [[nodiscard]] bool is_changed(std::size_t at) const;
    /// Returns the `;` that ends the statement at `at`, which holds no other; `end` where that is unclear.
    [[nodiscard]] std::size_t semicolon(std::size_t at, std::size_t end) const;
    /// Returns the first token of the statement or declaration that `at` is in.
    [[nodiscard]] std::size_t start_of_statement(std::size_t at) const;
    /// Returns the parenthesis that is open at `at`, in the same statement or declaration; 0 where none is.
    [[nodiscard]] std::size_t parenthesis_around(std::size_t at) const;
    /// Returns the brace that opens the body of the function whose attribute is at `at`; size() where it has
    /// none.
    [[nodiscard]] std::size_t body_behind(std::size_t at) const;
    /// Returns the first comma from `at` on that is in no bracket or `<…>`; `end` where there is none.
    [[nodiscard]] std::size_t comma(std::size_t at, std::size_t end) const {
        return find_outside(*this, at, end, ",");
    }
    /// Returns how many commas are between the bracket at `open` and `end`, outside of other brackets.
    [[nodiscard]] std::size_t place_in(std::size_t open, std::size_t end) const;

protected:
    const Tokens& tokens_;
};

/// Whether a word is written as macros are.
[[nodiscard]] bool is_in_capitals(std::string_view word);

/// float3, half2x2.
[[nodiscard]] bool is_wide(std::string_view word);

/// Tells whether a type has no derivative, or values that can't be assigned: int3, RWTensor, IShape.
[[nodiscard]] bool has_no_derivative(std::string_view type);

/// Differs from text to text, for names.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

}  // namespace kf::gen
