// Finds where a declaration starts, and what stands around it.
#include "slang/declaration.h"

#include <algorithm>
#include <cctype>

#include "slang/lexer.h"

namespace kf::gen {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// "///<", "//!<", "/**<": of what stands before it.
bool points_back(std::string_view comment) {
    return comment.size() > 3 && comment[3] == '<' &&
           (comment[2] == '!' || comment[2] == (comment[1] == '/' ? '/' : '*'));
}

std::string_view trim_right(std::string_view line) {
    while (!line.empty() && is_blank(line.back())) {
        line.remove_suffix(1);
    }
    return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (;;) {
        const std::size_t end = text.find('\n');
        lines.push_back(trim_right(text.substr(0, end)));
        if (end == std::string_view::npos) {
            return lines;
        }
        text.remove_prefix(end + 1);
    }
}

// Takes "///", "//!", "//", "/**", "/*!", "/*", "*/" and the leading stars of block comments away.
void append_comment(std::string_view comment, std::vector<std::string>& lines) {
    const bool block = comment.starts_with("/*");
    comment.remove_prefix(2);
    if (block && comment.ends_with("*/")) {
        comment.remove_suffix(2);
    }
    while (!comment.empty() && (comment.front() == (block ? '*' : '/') || comment.front() == '!')) {
        comment.remove_prefix(1);
    }
    bool first = true;
    for (std::string_view line : lines_of(comment)) {
        if (!first) {
            const std::size_t content = std::min(line.find_first_not_of(" \t"), line.size());
            if (content < line.size() && line[content] == '*') {
                line.remove_prefix(content + 1);
            } else {
                line.remove_prefix(content);
                lines.emplace_back(line);
                continue;
            }
        }
        first = false;
        if (line.starts_with(' ')) {
            line.remove_prefix(1);
        }
        lines.emplace_back(line);
    }
}

}  // namespace

std::string stated_format(const std::vector<std::string>& attributes) {
    for (const std::string& attribute : attributes) {
        for (const std::string_view opening : {"format(\"", "vk::image_format(\""}) {
            if (attribute.starts_with(opening) && attribute.ends_with("\")"))
                return attribute.substr(opening.size(), attribute.size() - opening.size() - 2);
        }
    }
    return {};
}

SourceText::SourceText(std::string text) : text_(std::move(text)) {
    line_starts_.push_back(0);
    for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
        line_starts_.push_back(at + 1);
    }
    const auto line_at = [&](std::size_t at) {
        return std::upper_bound(line_starts_.begin(), line_starts_.end(), at) - line_starts_.begin();
    };
    for (const Lexeme& lexeme : lex(text_)) {
        const char c = text_[lexeme.begin];
        const bool ends = lexeme.kind == Lexeme::Kind::symbol && (c == ';' || c == '{' || c == '}');
        const Kind kind = lexeme.kind == Lexeme::Kind::comment             ? Kind::comment
                          : ends || lexeme.kind == Lexeme::Kind::directive ? Kind::boundary
                                                                           : Kind::code;
        tokens_.push_back(
            {kind, lexeme.begin, lexeme.end, line_at(lexeme.begin), line_at(lexeme.end), lexeme.starts_line});
    }
}

std::string_view SourceText::text_of(const Token& token) const {
    return std::string_view(text_).substr(token.begin, token.end - token.begin);
}

std::string SourceText::comment_above(std::size_t token) const {
    std::size_t first = token;
    std::int64_t next_line = tokens_[token].first_line;
    while (first > 0) {
        const Token& above = tokens_[first - 1];
        const bool block = above.kind == Kind::comment && text_of(above).starts_with("/*");
        // A comment behind other code on its line belongs to that code.
        const bool taken = above.kind == Kind::comment && above.starts_line && !points_back(text_of(above)) &&
                           (above.last_line == next_line - 1 || (block && above.last_line == next_line));
        if (!taken || (block && first != token)) {
            break;
        }
        --first;
        next_line = above.first_line;
        if (block) {
            break;
        }
    }
    std::vector<std::string> lines;
    for (; first < token; ++first) {
        append_comment(text_of(tokens_[first]), lines);
    }
    const auto filled = [](const std::string& text) { return !text.empty(); };
    lines.erase(lines.begin(), std::find_if(lines.begin(), lines.end(), filled));
    lines.erase(std::find_if(lines.rbegin(), lines.rend(), filled).base(), lines.end());
    std::string doc;
    for (const std::string& text : lines) {
        doc += (doc.empty() ? "" : "\n") + text;
    }
    return doc;
}

std::string SourceText::comment_behind(std::int64_t line, std::int64_t column) const {
    std::size_t end = token_at(line, column);
    while (end < tokens_.size() && tokens_[end].kind != Kind::boundary) {
        ++end;
    }
    if (end + 1 >= tokens_.size() || tokens_[end + 1].first_line != tokens_[end].last_line) {
        return {};
    }
    std::string doc;
    for (std::size_t index = end + 1; index < tokens_.size(); ++index) {
        const Token& token = tokens_[index];
        std::string_view text = text_of(token);
        const bool goes_on =
            index == end + 1 || (token.starts_line && token.first_line == tokens_[index - 1].last_line + 1);
        if (!goes_on || token.kind != Kind::comment || !text.starts_with("//") || !points_back(text)) {
            break;
        }
        text = trim_right(text.substr(4));
        doc += (index == end + 1 ? "" : "\n") + std::string(text.substr(text.starts_with(' ') ? 1 : 0));
    }
    return doc;
}

std::vector<std::string> SourceText::attributes_between(std::size_t first, std::size_t last) const {
    std::vector<std::string> attributes;
    int squares = 0;
    int rounds = 0;
    std::string current;
    const auto flush = [&] {
        if (!current.empty()) {
            attributes.push_back(std::move(current));
        }
        current.clear();
    };
    for (std::size_t index = first; index < last; ++index) {
        const Token& token = tokens_[index];
        if (token.kind == Kind::comment) {
            continue;
        }
        const std::string_view text = text_of(token);
        if (text == "[" && rounds == 0) {
            ++squares;
            continue;
        }
        if (text == "]" && rounds == 0) {
            --squares;
            flush();
            continue;
        }
        if (squares <= 0) {
            continue;
        }
        rounds += text == "(" ? 1 : text == ")" ? -1 : 0;
        if (text == "," && rounds == 0) {
            flush();
        } else {
            current += text;
        }
    }
    return attributes;
}

std::string_view SourceText::text_at(std::int64_t line, std::int64_t column) const {
    if (line < 1 || static_cast<std::size_t>(line) > line_starts_.size() || column < 1) {
        return {};
    }
    const std::size_t place =
        line_starts_[static_cast<std::size_t>(line - 1)] + static_cast<std::size_t>(column - 1);
    if (place >= text_.size()) {
        return {};
    }
    return std::string_view(text_).substr(place, text_.find('\n', place) - place);
}

std::size_t SourceText::token_at(std::int64_t line, std::int64_t column) const {
    if (line < 1 || static_cast<std::size_t>(line) > line_starts_.size() || column < 1) {
        return tokens_.size();
    }
    const std::size_t place =
        line_starts_[static_cast<std::size_t>(line - 1)] + static_cast<std::size_t>(column - 1);
    const auto found = std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& token) {
        return token.begin <= place && place < token.end;
    });
    return static_cast<std::size_t>(found - tokens_.begin());
}

bool SourceText::has_body(std::int64_t line, std::int64_t column) const {
    std::size_t index = token_at(line, column);
    while (index < tokens_.size() && tokens_[index].kind != Kind::boundary) ++index;
    return index < tokens_.size() && text_of(tokens_[index]) == "{";
}

std::size_t SourceText::first_of_declaration(std::size_t name) const {
    std::size_t first = name;
    int depth = 0;
    for (std::size_t index = name < tokens_.size() ? name : 0; index > 0; --index) {
        const Token& token = tokens_[index - 1];
        if (token.kind == Kind::comment) {
            continue;
        }
        const std::string_view text = text_of(token);
        const bool opens = text == "<" || text == "[" || text == "(";
        if (token.kind == Kind::boundary || (depth == 0 && (opens || text == ","))) {
            break;
        }
        depth += text == ">" || text == "]" || text == ")" ? 1 : opens ? -1 : 0;
        first = index - 1;
    }
    return first;
}

bool SourceText::is_marked(std::int64_t line, std::int64_t column, std::string_view word) const {
    const std::size_t name = token_at(line, column);
    int depth = 0;
    for (std::size_t index = first_of_declaration(name); index < name && name < tokens_.size(); ++index) {
        const std::string_view text = text_of(tokens_[index]);
        if (depth == 0 && text == word && tokens_[index].kind != Kind::comment) {
            return true;
        }
        depth += text == "<" || text == "[" || text == "("   ? 1
                 : text == ">" || text == "]" || text == ")" ? -1
                                                             : 0;
    }
    return false;
}

std::vector<std::string> SourceText::attributes_of(std::int64_t line, std::int64_t column) const {
    const std::size_t name = token_at(line, column);
    return name == tokens_.size() ? std::vector<std::string>()
                                  : attributes_between(first_of_declaration(name), name);
}

std::string SourceText::semantic_of(std::int64_t line, std::int64_t column) const {
    const std::size_t name = token_at(line, column);
    if (name + 2 >= tokens_.size() || text_of(tokens_[name + 1]) != ":") {
        return {};
    }
    // Behind the type in "id : uint3 : SV_DispatchThreadID".
    std::size_t at = name + 2;
    int depth = 0;
    for (std::size_t index = at; index + 1 < tokens_.size() && tokens_[index].kind != Kind::boundary;
         ++index) {
        const std::string_view text = text_of(tokens_[index]);
        depth += text == "<" || text == "[" || text == "("   ? 1
                 : text == ">" || text == "]" || text == ")" ? -1
                                                             : 0;
        if (depth < 0 || (depth == 0 && (text == "," || text == "="))) break;
        if (depth == 0 && text == ":" && text_of(tokens_[index - 1]) != ":" &&
            text_of(tokens_[index + 1]) != ":")
            at = index + 1;
    }
    std::string semantic(text_of(tokens_[at]));
    std::transform(semantic.begin(), semantic.end(), semantic.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return semantic;
}

std::size_t SourceText::brace_around(std::size_t token) const {
    // Back over whole bodies.
    for (int depth = 0; token > 0; --token) {
        const std::string_view text = text_of(tokens_[token - 1]);
        depth += text == "}" ? 1 : text == "{" ? -1 : 0;
        if (depth < 0) {
            return token - 1;
        }
    }
    return tokens_.size();
}

std::string SourceText::type_around(std::int64_t line, std::int64_t column, std::string_view keyword) const {
    const std::size_t index = token_at(line, column);
    if (index == tokens_.size()) {
        return {};
    }
    const std::size_t brace = brace_around(index);
    if (brace == tokens_.size()) {
        return {};
    }
    std::size_t first = brace;  // of what the brace belongs to
    while (first > 0 && tokens_[first - 1].kind != Kind::boundary) {
        --first;
    }
    std::string type;
    bool begun = false;
    int angles = 0;
    for (std::size_t at = first; at < brace; ++at) {
        const std::string_view text = text_of(tokens_[at]);
        if (tokens_[at].kind == Kind::comment) {
            continue;
        }
        if (!begun) {
            begun = text == keyword;
            continue;
        }
        angles += text == "<" ? 1 : text == ">" ? -1 : 0;
        // "extension<T> Box<T>": its own parameters come first.
        if (type.empty() && (text == "<" || text == ">" || angles > 0)) {
            continue;
        }
        const bool twice = text == ":" && (text_of(tokens_[at + 1]) == ":" || type.ends_with(':'));
        if (angles == 0 && (text == "where" || (text == ":" && !twice))) {
            break;
        }
        type += text;
    }
    return type;
}

DeclarationText SourceText::declaration_at(std::int64_t line, std::int64_t column) const {
    const std::size_t name_index = token_at(line, column);
    if (name_index == tokens_.size()) {
        return {};
    }
    std::size_t first = name_index;
    for (std::size_t index = name_index; index > 0 && tokens_[index - 1].kind != Kind::boundary; --index) {
        if (tokens_[index - 1].kind == Kind::code) {
            first = index - 1;
        }
    }
    DeclarationText described;
    described.attributes = attributes_between(first, name_index);
    // Above the attributes, or between them and the declaration.
    for (std::size_t index = first; index <= name_index && described.doc.empty(); ++index) {
        if (tokens_[index].kind == Kind::code) {
            described.doc = comment_above(index);
        }
    }
    return described;
}

}  // namespace kf::gen
