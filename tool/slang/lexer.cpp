// Comments, literals and directives end where C's do.
#include "slang/lexer.h"

#include <algorithm>
#include <cctype>

namespace kf::gen {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether the line goes on behind the line feed at `at`.
bool is_spliced(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    return before.ends_with('\\') || before.ends_with("\\\r");
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
    std::size_t end = text.find('\n', at);
    while (end != std::string_view::npos && is_spliced(text, end)) {
        end = text.find('\n', end + 1);
    }
    return std::min(end, text.size());
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
    const std::size_t close = text.find("*/", at + 2);
    return close == std::string_view::npos ? text.size() : close + 2;
}

/// An apostrophe in text that is left out ends with its line.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != '\n'; ++at) {
        if (text[at] == quote) return at + 1;
        at += text[at] == '\\' ? 1 : 0;
    }
    return std::min(at, text.size());
}

/// A comment may go on over its line; in quotes there is none.
std::size_t end_of_directive(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const std::string_view two = text.substr(at, 2);
        if (two == "//") return end_of_line(text, at);
        if (two == "/*") {
            at = end_of_comment(text, at);
        } else if (text[at] == '"' || text[at] == '\'') {
            at = end_of_literal(text, at);
        } else if (text[at] == '\n' && !is_spliced(text, at)) {
            return at;
        } else {
            ++at;
        }
    }
    return text.size();
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
    while (at < text.size() && is_word(text[at])) {
        ++at;
    }
    return at;
}

}  // namespace

std::vector<Lexeme> lex(std::string_view text) {
    using Kind = Lexeme::Kind;
    std::vector<Lexeme> lexemes;
    bool starts_line = true;
    bool may_direct = true;  // comments may stand before a directive
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            const bool ends_line = c == '\n' && !is_spliced(text, at);
            starts_line = starts_line || ends_line;
            may_direct = may_direct || ends_line;
            ++at;
            continue;
        }
        const std::string_view two = text.substr(at, 2);
        Lexeme lexeme{Kind::symbol, at, at + 1, starts_line};
        if (two == "//" || two == "/*") {
            lexeme.kind = Kind::comment;
            lexeme.end = two == "//" ? end_of_line(text, at) : end_of_comment(text, at);
        } else if (c == '#' && may_direct) {
            lexeme.kind = Kind::directive;
            lexeme.end = end_of_directive(text, at);
        } else if (c == '"' || c == '\'') {
            lexeme.kind = Kind::literal;
            lexeme.end = end_of_literal(text, at);
        } else if (is_word(c)) {
            lexeme.kind = Kind::word;
            lexeme.end = end_of_word(text, at);
        }
        starts_line = false;
        may_direct = may_direct && lexeme.kind == Kind::comment;
        at = lexeme.end;
        lexemes.push_back(lexeme);
    }
    return lexemes;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace kf::gen
