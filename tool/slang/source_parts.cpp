// Splits sources by their brackets, and takes names from what stands before them.
#include "slang/source_parts.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "slang/lexer.h"

namespace kf::gen {

namespace {

using PieceKind = Lexeme::Kind;
using NameSet = std::set<std::string, std::less<>>;

/// Declarations with one of these act without being named, or declare more than one name.
const NameSet unusual_words{
    "operator",  "extern",           "export",         "import",         "using",       "cbuffer",
    "tbuffer",   "property",         "__init",         "__subscript",    "groupshared", "uniform",
    "syntax",    "module",           "__include",      "implementing",   "__exported",  "__extern_cpp",
    "namespace", "attribute_syntax", "associatedtype", "__ignored_block"};
/// What a macro may not hide.
const NameSet declaring_words{"struct",    "class",   "interface", "enum", "extension",
                              "typealias", "typedef", "static",    "func", "__generic"};

bool is_one(std::string_view text, char c) { return text.size() == 1 && text.front() == c; }

bool opens_group(std::string_view text) {
    return is_one(text, '(') || is_one(text, '[') || is_one(text, '{');
}
bool closes_group(std::string_view text) {
    return is_one(text, ')') || is_one(text, ']') || is_one(text, '}');
}
char partner(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// Statements with one of these name files and modules, which are no declarations' names.
const NameSet file_words{"import", "module", "implementing", "__include"};

/// Symbols of which two, side by side, may be another one.
bool may_merge(std::string_view text) {
    constexpr std::string_view symbols = "+-*/%&|^!=<>:.#~?\\";
    return text.size() == 1 && symbols.find(text.front()) != std::string_view::npos;
}

struct Piece {
    PieceKind kind = PieceKind::symbol;
    std::string_view text;
    bool gap = false;  ///< blanks or comments before it

    [[nodiscard]] bool is(char c) const { return kind == PieceKind::symbol && is_one(text, c); }
    [[nodiscard]] bool is_word() const { return kind == PieceKind::word; }
    [[nodiscard]] bool is_name() const {
        return is_word() && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
    }
};

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    std::size_t end = 0;
    for (const Lexeme& lexeme : lex(text)) {
        if (lexeme.kind == PieceKind::comment) continue;
        pieces.push_back(
            {lexeme.kind, text.substr(lexeme.begin, lexeme.end - lexeme.begin), lexeme.begin > end});
        end = lexeme.end;
    }
    return pieces;
}

/// Appends it so that other blanks between the same tokens give the same text.
void append_piece(std::string& text, const Piece& before, const Piece& piece) {
    const auto starts_number = [](const Piece& one) {
        return one.is_word() && std::isdigit(static_cast<unsigned char>(one.text.front())) != 0;
    };
    const bool both_words = before.kind != PieceKind::symbol && piece.kind != PieceKind::symbol;
    const bool gap_counts = (may_merge(before.text) && may_merge(piece.text)) || starts_number(before) ||
                            before.is('.') || piece.is('.') || piece.kind == PieceKind::literal;
    if (both_words || (piece.gap && gap_counts)) text += ' ';
    text += piece.text;
}

/// A directive's pieces, behind the #.
struct DirectiveText {
    std::string text;  ///< without splices, to which the pieces refer
    std::vector<Piece> pieces;

    explicit DirectiveText(std::string_view line) {
        for (std::size_t at = 1; at < line.size(); ++at) {
            const std::string_view rest = line.substr(at);
            if (rest.starts_with("\\\n") || rest.starts_with("\\\r\n")) {
                at += rest.starts_with("\\\n") ? 1 : 2;
            } else {
                text += line[at];
            }
        }
        pieces = pieces_of(text);
    }
    DirectiveText(const DirectiveText&) = delete;
    DirectiveText& operator=(const DirectiveText&) = delete;

    [[nodiscard]] std::string_view name() const { return word(0); }
    [[nodiscard]] std::string_view word(std::size_t index) const {
        return index < pieces.size() && pieces[index].is_word() ? pieces[index].text : std::string_view();
    }
    /// With one blank for each gap: in a macro, a blank may change what is a parameter.
    [[nodiscard]] std::string canonical() const {
        std::string all = "#";
        for (const Piece& piece : pieces) {
            if (piece.gap || &piece == pieces.data() + 1) all += ' ';
            all += piece.text;
        }
        return all;
    }
};

/// Without what says how lines are counted.
std::string plain_text(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
    std::string text;
    Piece before;
    for (std::size_t index = begin; index < end; ++index) {
        const Piece& piece = pieces[index];
        if (piece.kind != PieceKind::directive) {
            append_piece(text, before, piece);
            before = piece;
            continue;
        }
        const DirectiveText directive(piece.text);
        if (directive.name() != "line") text += '\n' + directive.canonical() + '\n';
        before = {};
    }
    return text;
}

bool are_balanced(const std::vector<Piece>& pieces, std::size_t begin = 0) {
    std::string open;
    for (std::size_t index = begin; index < pieces.size(); ++index) {
        const Piece& piece = pieces[index];
        if (piece.kind != PieceKind::symbol) continue;
        if (opens_group(piece.text)) {
            open += partner(piece.text.front());
        } else if (closes_group(piece.text)) {
            if (open.empty() || open.back() != piece.text.front()) return false;
            open.pop_back();
        }
    }
    return open.empty();
}

/// All macros of a program, however often each is defined.
class Macros {
public:
    void add(std::string_view line) {
        const DirectiveText directive(line);
        if (directive.name() != "define") return;
        const std::string name(directive.word(1));
        const std::vector<Piece>& pieces = directive.pieces;
        const bool takes_arguments = pieces.size() > 2 && pieces[2].is('(') && !pieces[2].gap;
        can_follow_ = can_follow_ && are_balanced(pieces, 2) && !unusual_words.contains(name) &&
                      !declaring_words.contains(name);
        bool plain = !takes_arguments;
        NameSet& words = words_[name];
        for (std::size_t index = 2; index < pieces.size(); ++index) {
            const Piece& piece = pieces[index];
            if (piece.is('#') && pieces[index - 1].is('#')) can_follow_ = false;
            if (piece.text.ends_with("Of")) can_follow_ = false;  // it may hide whose derivative something is
            if (piece.is('(') || piece.is('{') || piece.is(';') || piece.is('=') || piece.is(','))
                plain = false;
            if (!piece.is_word()) continue;
            plain = plain && !unusual_words.contains(piece.text) && !declaring_words.contains(piece.text);
            words.emplace(piece.text);
        }
        if (!plain) unusual_.insert(name);
    }

    void find_unusual() {
        for (bool grown = true; grown;) {
            grown = false;
            for (const auto& [name, words] : words_) {
                const bool reaches = std::any_of(words.begin(), words.end(),
                                                 [&](const auto& word) { return unusual_.contains(word); });
                grown = (reaches && unusual_.insert(name).second) || grown;
            }
        }
    }

    /// Whether no macro makes brackets or names of its own.
    [[nodiscard]] bool can_follow() const { return can_follow_; }
    [[nodiscard]] bool is_macro(std::string_view name) const { return words_.contains(name); }
    /// Whether it may declare something, or change what is declared.
    [[nodiscard]] bool is_unusual(std::string_view name) const { return unusual_.contains(name); }

private:
    std::map<std::string, NameSet, std::less<>> words_;
    NameSet unusual_;
    bool can_follow_ = true;
};

/// What stands before a declaration's braces, with groups of brackets as one token each: "()", "[]", "<>".
struct Header {
    std::vector<Piece> tokens;
    std::vector<std::string> attributes;  ///< words in square brackets
    bool is_clear = true;                 ///< angle brackets close

    [[nodiscard]] std::size_t find(std::string_view text, std::size_t from = 0) const {
        std::size_t index = from;
        while (index < tokens.size() && tokens[index].text != text) ++index;
        return index;
    }
    [[nodiscard]] bool has(std::string_view text) const { return find(text) < tokens.size(); }
    [[nodiscard]] bool is_name(std::size_t index) const {
        return index < tokens.size() && tokens[index].is_name();
    }
};

Header header_of(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
    Header header;
    const auto matching = [&](std::size_t open) {
        int depth = 0;
        for (std::size_t index = open; index < end; ++index) {
            if (pieces[index].kind != PieceKind::symbol) continue;
            depth += opens_group(pieces[index].text) ? 1 : closes_group(pieces[index].text) ? -1 : 0;
            if (depth == 0) return index;
        }
        return end;
    };
    bool is_value = false;  // where < compares
    for (std::size_t index = begin; index < end; ++index) {
        const Piece& piece = pieces[index];
        if (piece.kind == PieceKind::directive) continue;
        if (piece.is('=')) is_value = true;
        if (piece.kind == PieceKind::symbol && opens_group(piece.text)) {
            const std::size_t close = matching(index);
            for (std::size_t inner = index; piece.is('[') && inner < close; ++inner) {
                if (pieces[inner].is_word()) header.attributes.emplace_back(pieces[inner].text);
            }
            header.tokens.push_back({PieceKind::symbol,
                                     piece.is('(')   ? "()"
                                     : piece.is('[') ? "[]"
                                                     : "{}",
                                     false});
            index = close;
        } else if (piece.is('-') && index + 1 < end && pieces[index + 1].is('>')) {
            header.tokens.push_back({PieceKind::symbol, "->", false});
            ++index;
        } else if (piece.is('<') && !is_value) {
            int depth = 0;
            std::size_t close = index;
            for (; close < end; ++close) {
                if (pieces[close].kind == PieceKind::symbol && opens_group(pieces[close].text))
                    close = matching(close);
                if (close >= end) break;
                depth += pieces[close].is('<') ? 1 : pieces[close].is('>') ? -1 : 0;
                if (depth == 0) break;
            }
            header.is_clear = header.is_clear && close < end;
            header.tokens.push_back({PieceKind::symbol, "<>", false});
            index = close;
        } else {
            header.tokens.push_back(piece);
        }
    }
    std::erase_if(header.tokens, [](const Piece& token) { return token.text == "[]"; });
    return header;
}

bool is_unusual_attribute(const std::string& word) {
    std::string lower;
    for (const char c : word) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::string_view parts[] = {"cuda", "torch", "pybind", "dll", "export", "keep", "extern"};
    return std::any_of(std::begin(parts), std::end(parts),
                       [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

/// The names of a declaration; nothing where it counts everywhere.
using DeclaredNames = std::optional<std::vector<std::string>>;

/// Adds the names behind ':' of what a type builds on: by those, code may get to the type.
void add_bases(const Header& header, std::size_t from, std::vector<std::string>& names) {
    for (std::size_t index = header.find(":", from) + 1; index < header.tokens.size(); ++index) {
        if (header.tokens[index].text == "where") return;
        if (header.is_name(index)) names.emplace_back(header.tokens[index].text);
    }
}

/// A part while it is looked at.
struct FoundPart {
    SourcePart part;
    std::string type = {};     ///< that it declares
    std::string extends = {};  ///< the type that it adds to
    bool names_files = false;
    std::string scope = {};                    ///< the namespaces that it stands in
    std::vector<std::string> conditions = {};  ///< and the branches
    bool is_public = false;
};

class Splitter {
public:
    Splitter(const SourceFile& source, const Macros& macros)
        : label_(source.label), macros_(macros), pieces_(pieces_of(source.text)) {}

    /// Nothing where brackets or branches can't be followed.
    std::optional<std::vector<FoundPart>> split() {
        items({}, false);
        if (failed_ || !conditions_.empty()) return std::nullopt;
        return std::move(parts_);
    }

private:
    [[nodiscard]] const Piece* at() const { return at_ < pieces_.size() ? &pieces_[at_] : nullptr; }

    void fail() {
        failed_ = true;
        at_ = pieces_.size();
    }

    [[nodiscard]] std::string context(const std::string& scope) const {
        std::string text;
        for (const std::string& condition : conditions_) text += condition + '\n';
        return text + scope + '\n';
    }

    void items(const std::string& scope, bool nested) {
        const std::size_t conditions = conditions_.size();
        while (const Piece* piece = at()) {
            if (piece->kind == PieceKind::directive) {
                direct(scope, true);
                if (conditions_.size() < conditions) return fail();
            } else if (piece->is(';')) {
                open_type_.clear();
                ++at_;
            } else if (piece->is('}')) {
                if (!nested || conditions_.size() != conditions) return fail();
                ++at_;
                return;
            } else {
                item(scope);
            }
        }
        if (nested) fail();
    }

    /// Takes a directive. `between`: it stands between declarations.
    void direct(const std::string& scope, bool between) {
        const DirectiveText directive(pieces_[at_++].text);
        const std::string_view name = directive.name();
        if (name.starts_with("if")) {
            conditions_.push_back(directive.canonical());
        } else if (name.starts_with("el") || name == "endif") {
            if (conditions_.empty()) return fail();
            if (name == "endif") return conditions_.pop_back();
            conditions_.back() += ' ' + directive.canonical();
        } else if (name == "define" || name == "undef") {
            parts_.push_back(
                {{label_, context(scope) + directive.canonical(), {std::string(directive.word(1))}}});
        } else if (name != "line") {
            if (name == "include" && !between) return fail();
            if (between) add_everywhere(context(scope) + directive.canonical(), name == "include");
        }
    }

    void add_everywhere(std::string text, bool names_files) {
        parts_.push_back({{label_, std::move(text), {}, true}, {}, {}, names_files});
    }

    /// Skips a group of brackets. Each branch in it has to close what it opens.
    void skip_group(const std::string& scope) {
        std::string open;
        std::vector<std::size_t> branches;
        do {
            const Piece& piece = pieces_[at_];
            if (piece.kind == PieceKind::directive) {
                const std::size_t before = conditions_.size();
                const std::string_view line = piece.text;
                direct(scope, false);
                if (failed_) return;
                if (conditions_.size() > before) {
                    branches.push_back(open.size());
                } else if (turns(line) && (branches.empty() || branches.back() != open.size())) {
                    return fail();
                } else if (conditions_.size() < before) {
                    branches.pop_back();
                }
                continue;
            }
            if (piece.kind == PieceKind::symbol && opens_group(piece.text)) {
                open += partner(piece.text.front());
            } else if (piece.kind == PieceKind::symbol && closes_group(piece.text)) {
                const std::size_t least = branches.empty() ? 0 : branches.back();
                if (open.size() <= least || open.back() != piece.text.front()) return fail();
                open.pop_back();
            }
            ++at_;
        } while (!open.empty() && at() != nullptr);
        if (!open.empty() || !branches.empty()) fail();
    }

    static bool turns(std::string_view line) {
        const DirectiveText directive(line);
        return directive.name().starts_with("el") || directive.name() == "endif";
    }

    void item(const std::string& scope) {
        const std::size_t begin = at_;
        const std::string around = context(scope);
        std::vector<std::string> conditions = conditions_;
        std::optional<std::size_t> body;
        bool ended = false;
        bool plain = true;
        bool has_value = false;
        while (const Piece* piece = at()) {
            if (piece->kind == PieceKind::directive) {
                plain = plain && DirectiveText(piece->text).name() == "line";
                direct(scope, false);
            } else if (piece->is('{') && pieces_[begin].text == "namespace" && plain) {
                return name_space(scope, around, begin);
            } else if (piece->kind == PieceKind::symbol && opens_group(piece->text)) {
                const bool is_body = piece->is('{') && !has_value;
                if (is_body) body = at_;
                skip_group(scope);
                if (is_body) {
                    ended = true;
                    break;
                }
            } else if (piece->kind == PieceKind::symbol && closes_group(piece->text)) {
                return fail();
            } else {
                has_value = has_value || piece->is('=');
                ended = piece->is(';');
                ++at_;
                if (ended) break;
            }
        }
        if (failed_) return;
        FoundPart found{{label_, around + text_of(begin, at_)}};
        found.scope = scope;
        found.conditions = std::move(conditions);
        const std::size_t head = body.value_or(at_);
        DeclaredNames names = plain && ended ? names_of(begin, head, body.has_value(), found) : std::nullopt;
        if (names) {
            add_derived(begin, at_, *names);
            const bool has_macro = std::any_of(names->begin(), names->end(), [&](const std::string& name) {
                return macros_.is_macro(name);
            });
            if (has_macro) names.reset();
        }
        // Names behind a type's braces are of that type: aliases and variables.
        if (!names && !open_type_.empty()) found.part.text = open_type_ + '\n' + found.part.text;
        open_type_ = found.type;
        found.part.everywhere = !names;
        if (names) {
            found.part.names = std::move(*names);
        } else {
            found.names_files = plain && ended && !body && names_files(begin);
        }
        parts_.push_back(std::move(found));
    }

    [[nodiscard]] bool names_files(std::size_t begin) const {
        for (std::size_t index = begin; index < at_ && pieces_[index].is_word(); ++index) {
            if (file_words.contains(pieces_[index].text)) return true;
            if (pieces_[index].text != "__exported" && pieces_[index].text != "public") return false;
        }
        return false;
    }

    void name_space(const std::string& scope, const std::string& around, std::size_t begin) {
        const std::string header = text_of(begin, at_);
        std::vector<std::string> names;
        for (std::size_t index = begin + 1; index < at_; ++index) {
            if (pieces_[index].is_word()) names.emplace_back(pieces_[index].text);
        }
        const bool unusual = std::any_of(names.begin(), names.end(),
                                         [&](const std::string& name) { return macros_.is_macro(name); });
        parts_.push_back({{label_, around + header, std::move(names), unusual}});
        ++at_;
        items(scope + header + '{', true);
    }

    [[nodiscard]] std::string text_of(std::size_t begin, std::size_t end) const {
        return plain_text(pieces_, begin, end);
    }

    /// [BackwardDerivativeOf(f)] belongs to f, which needn't name it.
    void add_derived(std::size_t begin, std::size_t end, std::vector<std::string>& names) const {
        for (std::size_t index = begin; index + 1 < end; ++index) {
            if (!pieces_[index].text.ends_with("Of") || !pieces_[index + 1].is('(')) continue;
            for (index += 2; index < end && !pieces_[index].is(']') && !pieces_[index].is(';'); ++index) {
                if (pieces_[index].is_word()) names.emplace_back(pieces_[index].text);
            }
        }
    }

    [[nodiscard]] DeclaredNames names_of(std::size_t begin, std::size_t end, bool has_body,
                                         FoundPart& found) const {
        for (std::size_t index = begin; index < end; ++index) {
            if (pieces_[index].is_word() && macros_.is_unusual(pieces_[index].text)) return std::nullopt;
        }
        if (!has_body && end > begin && pieces_[end - 1].is(';')) --end;
        const Header header = header_of(pieces_, begin, end);
        if (!header.is_clear ||
            std::any_of(header.attributes.begin(), header.attributes.end(), is_unusual_attribute) ||
            std::any_of(header.tokens.begin(), header.tokens.end(),
                        [](const Piece& token) { return unusual_words.contains(token.text); })) {
            return std::nullopt;
        }
        DeclaredNames names = declared(header, has_body, found);
        if (!names) return std::nullopt;
        if (header.has("enum")) {
            for (std::size_t index = end; index < at_; ++index) {
                if (pieces_[index].is_word()) names->emplace_back(pieces_[index].text);
            }
        }
        return names;
    }

    static DeclaredNames declared(const Header& header, bool has_body, FoundPart& found) {
        if (header.has("extension")) return extended(header, has_body, found);
        for (const char* keyword : {"enum", "struct", "class", "interface"}) {
            if (header.has(keyword)) return type_names(header, header.find(keyword) + 1, has_body, found);
        }
        if (header.has("typealias") || header.has("typedef")) return alias_names(header);
        const std::size_t value = header.find("=");
        const std::size_t parameters = header.find("()");
        return parameters < value ? function_names(header, parameters) : variable_names(header, value);
    }

    static DeclaredNames extended(const Header& header, bool has_body, FoundPart& found) {
        const std::size_t at = header.find("extension") + 1;
        if (header.has("__generic")) return std::nullopt;  // what it extends may be a parameter
        if (!header.is_name(at) || !has_body || header.has("()") || header.has("=")) return std::nullopt;
        // A member of a type may be an alias, which is not looked at.
        const std::size_t next = at + 1;
        const bool is_member =
            next < header.tokens.size() &&
            (header.tokens[next].is('.') || (header.tokens[next].is(':') && next + 1 < header.tokens.size() &&
                                             header.tokens[next + 1].is(':')));
        if (is_member) return std::nullopt;
        std::vector<std::string> names{std::string(header.tokens[at].text)};
        found.extends = names.front();
        add_bases(header, at, names);
        return names;
    }

    static DeclaredNames type_names(const Header& header, std::size_t at, bool has_body, FoundPart& found) {
        if (at < header.tokens.size() && header.tokens[at].text == "class") ++at;
        if (!header.is_name(at) || !has_body || header.has("()") || header.has("=")) return std::nullopt;
        std::vector<std::string> names{std::string(header.tokens[at].text)};
        found.type = names.front();
        found.is_public = header.has("public");
        if (!header.has("enum")) add_bases(header, at, names);
        return names;
    }

    static DeclaredNames alias_names(const Header& header) {
        if (header.has("()")) return std::nullopt;
        const bool is_typedef = header.has("typedef");
        const std::size_t at = is_typedef ? header.tokens.size() - 1 : header.find("typealias") + 1;
        if (!header.is_name(at) || (is_typedef && header.has(","))) return std::nullopt;
        return DeclaredNames({std::string(header.tokens[at].text)});
    }

    static DeclaredNames function_names(const Header& header, std::size_t parameters) {
        // Behind a constraint with = in it, braces are no body: other declarations may follow.
        if (header.has("{}")) return std::nullopt;
        std::size_t name = parameters;
        while (name > 0 && header.tokens[name - 1].text == "<>") --name;
        if (name < 2 || !header.is_name(--name) || header.find(",") < parameters) return std::nullopt;
        const std::size_t next = parameters + 1;
        const bool ends = next == header.tokens.size() || header.tokens[next].text == "->" ||
                          header.tokens[next].is(':') || header.tokens[next].text == "where" ||
                          header.tokens[next].text == "throws";
        if (!ends) return std::nullopt;
        return DeclaredNames({std::string(header.tokens[name].text)});
    }

    static DeclaredNames variable_names(const Header& header, std::size_t value) {
        if (header.find("static") >= value || header.has(",")) return std::nullopt;
        std::size_t name = std::min(value, header.find(":"));
        std::size_t words = 0;
        for (std::size_t index = 0; index < name; ++index) words += header.is_name(index) ? 1 : 0;
        if (words < 2 || name == 0 || !header.is_name(--name)) return std::nullopt;
        return DeclaredNames({std::string(header.tokens[name].text)});
    }

    std::string label_;
    const Macros& macros_;
    std::vector<Piece> pieces_;
    std::size_t at_ = 0;
    std::vector<std::string> conditions_;
    std::vector<FoundPart> parts_;
    std::string open_type_;  ///< whose braces were the last before; empty behind a ;
    bool failed_ = false;
};

/// Whether Slang sees the same words and literals in it.
bool is_clear(const std::vector<Piece>& pieces) {
    for (std::size_t index = 0; index < pieces.size(); ++index) {
        const Piece& piece = pieces[index];
        // Names may have letters beyond ASCII, and go on behind a spliced line.
        const bool is_known = piece.kind != PieceKind::symbol ||
                              (!piece.is('\\') && static_cast<unsigned char>(piece.text.front()) < 0x80);
        // R"(...)" ends elsewhere than other literals.
        const bool is_joined =
            piece.kind == PieceKind::literal && index > 0 && !piece.gap && pieces[index - 1].is_word();
        if (!is_known || is_joined) return false;
        if (piece.kind == PieceKind::directive && !is_clear(DirectiveText(piece.text).pieces)) return false;
    }
    return true;
}

/// Whether it can be told apart into tokens as Slang does it.
bool can_lex(const std::string& text) {
    for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1)) {
        if (text.compare(at, 2, "\r\n") != 0) return false;  // it ends a line, and a comment
    }
    return is_clear(pieces_of(text));
}

bool asks_for_lines(const std::string& text) {
    const std::vector<std::string> words = identifiers_in(text);
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "__LINE__" || word == "__FILE__" || word == "__COUNTER__";
    });
}

std::vector<SourcePart> whole_parts(const std::vector<SourceFile>& sources, bool as_they_are) {
    std::vector<SourcePart> parts;
    for (const SourceFile& source : sources) {
        const std::vector<Piece> pieces = pieces_of(source.text);
        parts.push_back(
            {source.label, as_they_are ? source.text : plain_text(pieces, 0, pieces.size()), {}, true});
    }
    return parts;
}

/// The files whose modules each file names, by the files' names.
class NamedFiles {
public:
    explicit NamedFiles(const std::vector<FoundPart>& found) {
        for (const FoundPart& one : found) {
            std::vector<std::string> words = identifiers_in(one.part.text);
            if (std::find(words.begin(), words.end(), "public") != words.end())
                have_public_.insert(one.part.file);
            if (one.names_files) names_[one.part.file].insert(words.begin(), words.end());
        }
    }

    [[nodiscard]] bool names(const std::string& file, const std::string& other) const {
        const auto found = names_.find(file);
        const std::string stem = std::filesystem::path(other).stem().string();
        return found != names_.end() && found->second.contains(stem);
    }
    /// Whether types of the file that don't say so are its module's own.
    [[nodiscard]] bool has_public(const std::string& file) const { return have_public_.contains(file); }

private:
    std::map<std::string, NameSet, std::less<>> names_;
    NameSet have_public_;
};

/// Whether a name in an extension means this type, and not one of Slang's that is called so, too.
bool is_seen_by(const FoundPart& extension, const FoundPart& type, const NamedFiles& files) {
    const auto& branches = type.conditions;
    const bool is_around = extension.scope.starts_with(type.scope) &&
                           branches.size() <= extension.conditions.size() &&
                           std::equal(branches.begin(), branches.end(), extension.conditions.begin());
    if (!is_around || extension.part.file == type.part.file) return is_around;
    return files.names(extension.part.file, type.part.file) &&
           (type.is_public || !files.has_public(type.part.file));
}

/// An extension of what isn't plainly one of the sources' types may add to any type.
void settle_extensions(std::vector<FoundPart>& found) {
    std::multimap<std::string, const FoundPart*, std::less<>> types;
    NameSet others;
    for (const FoundPart& one : found) {
        if (!one.type.empty()) {
            types.emplace(one.type, &one);
        } else if (one.extends.empty()) {
            others.insert(one.part.names.begin(), one.part.names.end());
        }
    }
    const NamedFiles files(found);
    for (FoundPart& one : found) {
        if (one.extends.empty()) continue;
        const auto [first, last] = types.equal_range(one.extends);
        const bool is_plain =
            !others.contains(one.extends) &&
            std::any_of(first, last, [&](const auto& type) { return is_seen_by(one, *type.second, files); });
        if (!is_plain) one.part.everywhere = true;
    }
}

}  // namespace

std::vector<std::string> identifiers_in(std::string_view text) {
    const auto is_part = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
    };
    NameSet words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_part(text[end])) ++end;
        if (end > at && std::isdigit(static_cast<unsigned char>(text[at])) == 0)
            words.emplace(text.substr(at, end - at));
        at = end + 1;
    }
    return {words.begin(), words.end()};
}

std::vector<SourcePart> source_parts(const std::vector<SourceFile>& sources,
                                     const std::vector<std::pair<std::string, std::string>>& defines) {
    Macros macros;
    bool as_they_are = false;
    for (const auto& [name, text] : defines) {
        macros.add("#define " + name + " " + text);
        as_they_are = as_they_are || asks_for_lines(text) || !can_lex(text);
    }
    for (const SourceFile& source : sources) {
        as_they_are = as_they_are || asks_for_lines(source.text) || !can_lex(source.text);
        for (const Lexeme& lexeme : lex(source.text)) {
            if (lexeme.kind != PieceKind::directive) continue;
            macros.add(std::string_view(source.text).substr(lexeme.begin, lexeme.end - lexeme.begin));
        }
    }
    if (as_they_are || !macros.can_follow()) return whole_parts(sources, as_they_are);
    macros.find_unusual();
    std::vector<FoundPart> found;
    for (const SourceFile& source : sources) {
        auto split = Splitter(source, macros).split();
        if (!split) return whole_parts(sources, false);
        std::move(split->begin(), split->end(), std::back_inserter(found));
    }
    settle_extensions(found);
    std::vector<SourcePart> parts;
    for (FoundPart& one : found) {
        one.part.uses = identifiers_in(one.part.text);
        if (one.names_files)
            std::erase_if(one.part.uses, [&](const auto& use) { return !macros.is_macro(use); });
        parts.push_back(std::move(one.part));
    }
    return parts;
}

PartGraph::PartGraph(std::vector<SourcePart> parts) : parts_(std::move(parts)), everywhere_(parts_.size()) {
    for (std::size_t index = 0; index < parts_.size(); ++index) {
        for (const std::string& name : parts_[index].names) named_[name].push_back(index);
    }
    for (std::size_t index = 0; index < parts_.size(); ++index) {
        if (!parts_[index].everywhere) continue;
        everywhere_[index] = true;
        add_reached(parts_[index].uses, everywhere_);
    }
}

void PartGraph::add_reached(const std::vector<std::string>& uses, std::vector<bool>& reached) const {
    std::vector<const std::vector<std::string>*> open{&uses};
    while (!open.empty()) {
        const std::vector<std::string>& names = *open.back();
        open.pop_back();
        for (const std::string& name : names) {
            const auto found = named_.find(name);
            if (found == named_.end()) continue;
            for (const std::size_t part : found->second) {
                if (reached[part]) continue;
                reached[part] = true;
                open.push_back(&parts_[part].uses);
            }
        }
    }
}

}  // namespace kf::gen
