// A source's lexemes by number, without its comments.
#include "slang/lexed_text.h"

#include <algorithm>

namespace kf::gen {

LexedText::LexedText(std::string_view text) : text_(text) {
    for (const Lexeme& lexeme : lex(text)) {
        if (lexeme.kind != Lexeme::Kind::comment) lexemes_.push_back(lexeme);
    }
}

std::string_view LexedText::operator[](std::size_t index) const {
    if (index >= lexemes_.size()) return {};
    return text_.substr(lexemes_[index].begin, lexemes_[index].end - lexemes_[index].begin);
}

Location LexedText::place(const std::string& file, std::size_t index) const {
    const std::string_view before = text_.substr(0, lexemes_[index].begin);
    const std::size_t line_start = before.rfind('\n') + 1;  // 0 on the first line
    return {file, std::count(before.begin(), before.end(), '\n') + 1,
            static_cast<std::int64_t>(before.size() - line_start) + 1};
}

void blank_text(std::string& text, std::size_t begin, std::size_t end) {
    std::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n' && c != '\r'; }, ' ');
}

}  // namespace kf::gen
