// Finds the fields of public structs by their tokens.
#include "slang/field_access.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>

#include "slang/lexer.h"

namespace kf::gen {

namespace {

struct Word {
    std::string_view text;
    std::size_t offset = 0;
    std::size_t before = 0;         ///< the end of the word before it
    bool behind_directive = false;  ///< there is one between the two
    bool conditional = false;       ///< within an #if
};

struct FieldDeclaration {
    std::vector<Word> names;  ///< "float a, b;" declares two
    Word first;
    std::optional<Word> says;  ///< private or internal
    bool is_public = false;
    bool has_value = false;  ///< "= 3"
};

struct Struct {
    std::string name;
    std::vector<FieldDeclaration> fields;
};

bool is_word_start(std::string_view text) {
    const char c = text.empty() ? ' ' : text.front();
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Reads declarations down to the fields of public structs.
class FieldReader {
public:
    explicit FieldReader(std::string_view text) {
        int nesting = 0;
        std::size_t before = 0;
        bool directive = false;
        for (const Lexeme& lexeme : lex(text)) {
            const std::string_view word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
            if (lexeme.kind == Lexeme::Kind::comment) continue;
            if (lexeme.kind == Lexeme::Kind::directive) {
                const std::string_view name =
                    word.substr(std::min(word.find_first_not_of(" \t", 1), word.size()));
                nesting += name.starts_with("if") ? 1 : name.starts_with("endif") ? -1 : 0;
                directive = true;
                continue;
            }
            words_.push_back({word, lexeme.begin, before, directive, nesting > 0});
            before = lexeme.end;
            directive = false;
        }
    }

    std::vector<Struct> read() {
        read_declarations(0, words_.size(), {}, nullptr);
        return std::move(structs_);
    }

private:
    [[nodiscard]] std::string_view at(std::size_t i) const {
        return i < words_.size() ? words_[i].text : std::string_view();
    }

    /// The first place from `i` on, outside of brackets, that holds one of the characters.
    [[nodiscard]] std::size_t find(std::size_t i, std::size_t end, std::string_view characters) const {
        int depth = 0;
        for (; i < end; ++i) {
            const std::string_view word = at(i);
            if (word.size() == 1 && depth == 0 && characters.find(word.front()) != std::string_view::npos)
                return i;
            depth += word == "(" || word == "[" ? 1 : word == ")" || word == "]" ? -1 : 0;
        }
        return end;
    }

    [[nodiscard]] std::size_t closing(std::size_t brace, std::size_t end) const {
        int depth = 0;
        for (std::size_t i = brace; i < end; ++i) {
            depth += at(i) == "{" ? 1 : at(i) == "}" ? -1 : 0;
            if (depth == 0) return i;
        }
        return end;
    }

    [[nodiscard]] std::size_t find_word(std::size_t begin, std::size_t end, std::string_view word) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (at(i) == word) return i;
            // Generic parameters and bases aren't what is declared.
            if (at(i) == "(" || at(i) == "=" || at(i) == ":") return end;
        }
        return end;
    }

    /// `fields`: of the public struct that these are members of; null for others.
    void read_declarations(std::size_t begin, std::size_t end, const std::string& prefix,
                           std::vector<FieldDeclaration>* fields) {
        while (begin < end) {
            const std::size_t stop = find(begin, end, ";{}");
            if (at(stop) != "{") {
                if (fields != nullptr) read_field(begin, stop, *fields);
                begin = stop + 1;
                continue;
            }
            const std::size_t close = closing(stop, end);
            if (const std::size_t word = find_word(begin, stop, "struct"); word < stop) {
                const bool is_public = find_word(begin, word, "public") < word;
                Struct read{prefix + std::string(at(word + 1)), {}};
                read_declarations(stop + 1, close, read.name + ".", is_public ? &read.fields : nullptr);
                if (is_public) structs_.push_back(std::move(read));
            } else if (const std::size_t space = find_word(begin, stop, "namespace"); space < stop) {
                std::string name;
                for (std::size_t i = space + 1; i < stop; ++i)
                    name += is_word_start(at(i)) ? std::string(at(i)) + "." : std::string();
                read_declarations(stop + 1, close, prefix + name, nullptr);
            } else if (fields != nullptr && find(begin, stop, "=") < stop) {
                read_field(begin, stop, *fields);
                begin = find(close, end, ";") + 1;
                continue;
            }
            begin = close + 1;
        }
    }

    void read_field(std::size_t begin, std::size_t end, std::vector<FieldDeclaration>& fields) const {
        FieldDeclaration member;
        std::size_t first = begin;
        // "[attribute(…)]" may stand before and between the modifiers.
        while (first < end && at(first) == "[") first = find(first + 1, end, "]") + 1;
        if (first >= end) return;
        member.first = words_[begin];
        const std::size_t value = std::min(find(begin, end, "="), end);
        member.has_value = value < end;
        for (std::size_t i = begin; i < value; ++i) {
            const std::string_view word = at(i);
            if (word == "[") {
                i = find(i + 1, value, "]");
                continue;
            }
            if (word == "static" || word == "typedef" || word == "typealias" || word == "using" ||
                word == "associatedtype" || word == "(")
                return;
            if (word == "public") member.is_public = true;
            if (word == "private" || word == "internal") member.says = words_[i];
        }
        member.names = names_of(first, end);
        if (!member.names.empty()) fields.push_back(std::move(member));
    }

    /// "a" and "b" of "float a[2] = {1}, b : SEMANTIC" and of "let a : float".
    [[nodiscard]] std::vector<Word> names_of(std::size_t begin, std::size_t end) const {
        std::vector<Word> names;
        std::optional<Word> last;
        std::size_t words = 0;
        int angles = 0;
        bool named = false;
        for (std::size_t i = begin; i <= end; ++i) {
            const std::string_view word = i < end ? at(i) : ";";
            if (word == "[") {
                i = find(i + 1, end, "]");
                continue;
            }
            angles += word == "<" ? 1 : word == ">" ? -1 : 0;
            const bool scope = word == ":" && (at(i + 1) == ":" || (i > begin && at(i - 1) == ":"));
            const bool ends =
                angles == 0 && !scope && (word == "," || word == ";" || word == "=" || word == ":");
            if (ends && !named && last && (words > 1 || !names.empty())) names.push_back(*last);
            named = named || ends;
            if (word == "," && angles == 0) {
                named = false;
                last.reset();
            }
            if (angles == 0 && is_word_start(word)) {
                last = words_[i];
                ++words;
            }
        }
        return names;
    }

    std::vector<Word> words_;
    std::vector<Struct> structs_;
};

bool is_closed(const FieldDeclaration& field) { return !field.is_public; }

/// Slang makes a constructor of a struct's public fields, in order, of which those with values may be left
/// out. Where a closed field comes before one of those, a call of it would mean other fields.
bool may_open(const Struct& read) {
    const auto closed = std::find_if(read.fields.begin(), read.fields.end(), is_closed);
    return std::none_of(closed, read.fields.end(),
                        [](const FieldDeclaration& field) { return field.is_public && field.has_value; });
}

/// Numbers of lines as #line directives count them.
class Lines {
public:
    explicit Lines(std::string_view text) : text_(text) {
        for (const Lexeme& lexeme : lex(text)) {
            if (lexeme.kind != Lexeme::Kind::directive) continue;
            std::string_view directive = text.substr(lexeme.begin + 1, lexeme.end - lexeme.begin - 1);
            const auto skip = [&] {
                directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
            };
            skip();
            if (!directive.starts_with("line")) continue;
            directive.remove_prefix(4);
            skip();
            std::int64_t line = 0;
            std::from_chars(directive.data(), directive.data() + directive.size(), line);
            const std::size_t begin = std::min(text.find('\n', lexeme.end), text.size() - 1) + 1;
            starts_[begin] = line;
        }
    }

    [[nodiscard]] std::int64_t line(std::size_t offset) const {
        auto start = starts_.upper_bound(offset);
        const auto [from, number] =
            start == starts_.begin() ? std::pair<const std::size_t, std::int64_t>(0, 1) : *std::prev(start);
        return number + std::count(text_.begin() + static_cast<std::ptrdiff_t>(from),
                                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    }

    /// Returns the column from 0, in characters, as Slang counts them.
    [[nodiscard]] std::int64_t column(std::size_t offset) const {
        const std::size_t start = offset == 0 ? 0 : text_.rfind('\n', offset - 1) + 1;
        return std::count_if(text_.begin() + static_cast<std::ptrdiff_t>(start),
                             text_.begin() + static_cast<std::ptrdiff_t>(offset),
                             [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    }

private:
    std::string_view text_;
    std::map<std::size_t, std::int64_t>
        starts_;  ///< of a line behind a directive, the number that it gives it
};

}  // namespace

std::string with_open_fields(std::string_view text) {
    if (text.find("public") == std::string_view::npos) return std::string(text);
    std::map<std::size_t, std::string> insertions;
    std::string result(text);
    std::optional<Lines> lines;
    for (const Struct& read : FieldReader(text).read()) {
        if (!may_open(read)) continue;
        for (const FieldDeclaration& field : read.fields) {
            if (!is_closed(field)) continue;
            if (field.says) {
                const std::string_view word = field.says->text;
                result.replace(field.says->offset, word.size(),
                               "public" + std::string(word.size() - std::string_view("public").size(), ' '));
                continue;
            }
            const Word& first = field.first;
            const bool apart =
                text.substr(first.before, first.offset - first.before).find('\n') != std::string_view::npos;
            if (apart && !first.behind_directive) {
                insertions[first.before] = " public";
            } else if (first.conditional) {
                // Where the branch is left out a #line would count for nothing.
                insertions[first.offset] = "public ";
            } else {
                if (!lines) lines.emplace(text);
                insertions[first.offset] =
                    "\npublic\n#line " + std::to_string(lines->line(first.offset)) + "\n" +
                    std::string(static_cast<std::size_t>(lines->column(first.offset)), ' ');
            }
        }
    }
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion)
        result.insert(insertion->first, insertion->second);
    return result;
}

std::vector<ClosedField> closed_fields(std::string_view text, bool opened) {
    std::vector<ClosedField> closed;
    if (text.find("public") == std::string_view::npos) return closed;
    const Lines lines(text);
    for (const Struct& read : FieldReader(text).read()) {
        if (opened && may_open(read)) continue;
        for (const FieldDeclaration& field : read.fields) {
            if (!is_closed(field)) continue;
            for (const Word& name : field.names) {
                closed.push_back({read.name, std::string(name.text), lines.line(name.offset),
                                  lines.column(name.offset) + 1});
            }
        }
    }
    return closed;
}

std::int64_t closed_module_line(std::string_view text) {
    std::int64_t line = 0;
    bool begins = true;
    for (const Lexeme& lexeme : lex(text)) {
        const std::string_view word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
        if (lexeme.kind == Lexeme::Kind::comment) continue;
        if (word == "public" ||
            (lexeme.kind == Lexeme::Kind::directive && (word.find("include") != std::string_view::npos ||
                                                        word.find("public") != std::string_view::npos)))
            return 0;
        if (lexeme.kind == Lexeme::Kind::directive) continue;
        if (begins && (word == "module" || word == "implementing"))
            line =
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(lexeme.begin), '\n');
        begins = false;
    }
    return line;
}

}  // namespace kf::gen
