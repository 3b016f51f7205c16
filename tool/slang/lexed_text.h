// A source's lexemes by number, without its comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/lexer.h"
#include "slang/matching.h"

namespace kf::gen {

/// Refers to the text given. No macro is replaced, and branches that are left out count.
class LexedText {
public:
    explicit LexedText(std::string_view text);

    [[nodiscard]] std::string_view whole() const { return text_; }
    [[nodiscard]] std::size_t size() const { return lexemes_.size(); }
    [[nodiscard]] Lexeme::Kind kind(std::size_t index) const { return lexemes_[index].kind; }
    [[nodiscard]] bool is_word(std::size_t index) const {
        return index < size() && kind(index) == Lexeme::Kind::word;
    }
    /// Nothing beyond the end.
    [[nodiscard]] std::string_view operator[](std::size_t index) const;
    [[nodiscard]] std::size_t offset(std::size_t index) const { return lexemes_[index].begin; }
    [[nodiscard]] Location place(const std::string& file, std::size_t index) const;
    /// The number of the bracket that closes the one there; size() where none does.
    [[nodiscard]] std::size_t closing(std::size_t open) const { return closing_bracket(*this, open); }

private:
    std::string_view text_;
    std::vector<Lexeme> lexemes_;
};

/// Makes blanks of [begin, end), but for what ends lines, so that all behind it stays at its place.
void blank_text(std::string& text, std::size_t begin, std::size_t end);

}  // namespace kf::gen
