// Slang's text in pieces, as far as its preprocessor tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kf::gen {

struct Lexeme {
    enum class Kind : std::uint8_t {
        word,     ///< letters, digits and _
        symbol,   ///< one character
        literal,  ///< a string or character with its quotes
        comment,
        directive  ///< a preprocessor's line, and those that it goes on in; without the last one's end
    };
    Kind kind = Kind::symbol;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool starts_line = false;  ///< nothing but blanks before it on its line
};

/// Returns a text's lexemes in order; blanks lie between them.
[[nodiscard]] std::vector<Lexeme> lex(std::string_view text);

/// Whether it is all digits.
[[nodiscard]] bool is_number(std::string_view text);

}  // namespace kf::gen
