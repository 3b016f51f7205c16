// Finds declarations by their tokens, and writes `public` before them.
#include "slang/access.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>

#include "slang/brackets.h"
#include "slang/insertions.h"
#include "slang/lexer.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// Places as #line directives count lines.
class Places {
public:
    explicit Places(std::string_view text) : text_(text) {
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
            starts_[std::min(text.find('\n', lexeme.end), text.size() - 1) + 1] = line;
        }
    }

    [[nodiscard]] std::int64_t line(std::size_t offset) const {
        const auto start = starts_.upper_bound(offset);
        const auto [from, number] =
            start == starts_.begin() ? std::pair<const std::size_t, std::int64_t>(0, 1) : *std::prev(start);
        return number + std::count(text_.begin() + static_cast<std::ptrdiff_t>(from),
                                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    }

    [[nodiscard]] std::int64_t column(std::size_t offset) const {
        return static_cast<std::int64_t>(column_at(text_, offset));
    }

private:
    std::string_view text_;
    /// The numbers that directives give the lines behind them.
    std::map<std::size_t, std::int64_t> starts_;
};

/// Numbers of tokens: `begin` is before attributes, `first` behind them and the access that is stated.
struct Declaration {
    std::size_t begin = 0;
    std::size_t first = 0;
    std::size_t stop = 0;               ///< of what ends it: ; { or }
    std::optional<std::size_t> access;  ///< of `public` or its kin

    [[nodiscard]] bool says(const Tokens& tokens, std::string_view word) const {
        return access && tokens.all[*access].text == word;
    }
};

struct FieldDeclaration {
    Declaration declaration;
    std::vector<std::size_t> names;  ///< "float a, b;" declares two
};

struct Struct {
    std::string name;
    bool is_public = false;  ///< by its own word
    bool conforms = false;
    bool has_constructor = false;  ///< by which Slang makes none of the fields
    std::vector<FieldDeclaration> fields;
};

class DeclarationReader {
public:
    DeclarationReader(std::string_view text, const FileAccess& access, Opening opening)
        : text_(text), access_(access), opening_(opening), tokens_(tokenise(text)), places_(text) {}

    OpenedText run() && {
        read(0, tokens_.all.size(),
             {{}, nullptr, opening_ == Opening::everything && access_.keeps_to_itself});
        result_.text = written();
        return std::move(result_);
    }

private:
    struct Scope {
        std::string prefix;
        Struct* record = nullptr;  ///< whose members these are
        bool opens = false;        ///< what isn't public here may be made so
    };

    [[nodiscard]] std::string_view at(std::size_t i) const {
        return i < tokens_.all.size() ? tokens_.all[i].text : std::string_view();
    }
    [[nodiscard]] bool is_word(std::size_t i) const { return i < tokens_.all.size() && tokens_.all[i].word; }

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

    /// What declares: "struct" of "public struct Box<T> : IShape {".
    [[nodiscard]] std::size_t find_word(const Declaration& here, std::string_view word) const {
        // Generic parameters and bases aren't what is declared.
        for (std::size_t i = here.first; i < here.stop && !is_one_of(at(i), "(", "=", ":");) {
            if (at(i) == word) return i;
            i = std::max(behind_angles(view_, i), i + 1);
        }
        return here.stop;
    }

    /// Behind "BEGIN_SPACE()" of "BEGIN_SPACE() float f", but not behind a type that a macro writes, as in
    /// "VECTOR(3) f"; `stop` where there is none.
    [[nodiscard]] std::size_t behind_macro(std::size_t i, std::size_t stop) const {
        if (!is_word(i) || at(i + 1) != "(" || is_one_of(at(i), "layout", "__init")) return stop;
        const std::size_t behind = find(i + 2, stop, ")") + 1;
        return is_word(behind) && is_word(behind_angles(view_, behind + 1)) ? behind : stop;
    }

    [[nodiscard]] Declaration declaration(std::size_t begin, std::size_t stop) const {
        Declaration found{begin, begin, stop, {}};
        while (found.first < stop) {
            if (at(found.first) == "[") {
                found.first = find(found.first + 1, stop, "]") + 1;
            } else if (says_access(at(found.first))) {
                found.access = found.first++;
            } else if (const std::size_t behind = behind_macro(found.first, stop); behind < stop) {
                // What it writes may close what is before it, and open what follows.
                found = {behind, behind, stop, {}};
            } else {
                break;
            }
        }
        // "#if … [Attribute] #endif" before it: what is written belongs to the branch no more.
        for (std::size_t i = begin + 1; i <= found.first && i < stop; ++i) {
            if (tokens_.all[i].directives != tokens_.all[i - 1].directives) found.begin = i;
        }
        // Access may be stated behind other modifiers, too.
        for (std::size_t i = found.first; i < stop && !found.access; ++i) {
            if (at(i) == "(" || at(i) == "=" || at(i) == ":") break;
            if (says_access(at(i))) found.access = i;
        }
        return found;
    }

    void read(std::size_t begin, std::size_t end, const Scope& scope) {
        while (begin < end) {
            const std::size_t stop = find(begin, end, ";{}");
            const Declaration here = declaration(begin, stop);
            if (scope.record != nullptr && find_word(here, "__init") < stop)
                scope.record->has_constructor = true;
            if (at(stop) != "{") {
                read_plain(here, scope);
                begin = stop + 1;
                continue;
            }
            const std::size_t close = closing(stop, end);
            const bool is_function = function_name(here).has_value() || find_word(here, "operator") < stop;
            if (const std::size_t word = find_word(here, "struct"); word < stop && !is_function) {
                read_struct(here, word, close, scope);
            } else if (const std::size_t space = find_word(here, "namespace"); space < stop) {
                std::string name;
                for (std::size_t i = space + 1; i < stop; ++i)
                    name += is_word(i) ? std::string(at(i)) + "." : std::string();
                read(stop + 1, close, {scope.prefix + name, nullptr, scope.opens});
            } else if (find_word(here, "extension") < stop) {
                Struct extended;
                extended.conforms = find(here.first, stop, ":") < stop;
                // Its members can't be more public than itself.
                if (scope.opens && !here.says(tokens_, "public") && !here.says(tokens_, "private"))
                    open(here);
                read(stop + 1, close, {scope.prefix, &extended, scope.opens});
            } else if (const std::size_t type =
                           std::min(find_word(here, "interface"), find_word(here, "enum"));
                       type < stop) {
                open_type(here, type + (at(type + 1) == "class" ? 2 : 1), scope);
            } else if (is_function) {
                read_function(here, scope);
            } else if (find(here.first, stop, "=") < stop) {
                read_plain(here, scope);
                begin = find(close, end, ";") + 1;
                continue;
            }
            begin = close + 1;
        }
    }

    void read_struct(const Declaration& here, std::size_t word, std::size_t close, const Scope& scope) {
        Struct record{
            scope.prefix + std::string(at(word + 1)), here.says(tokens_, "public"), false, false, {}};
        record.conforms = find(here.first, here.stop, ":") < here.stop;
        const bool opened = open_type(here, word + 1, scope);
        read(here.stop + 1, close, {record.name + ".", &record, scope.opens && (record.is_public || opened)});
        if (record.is_public || opened) open_fields(record);
    }

    /// What ends with a semicolon, or begins with `… = {`.
    void read_plain(const Declaration& here, const Scope& scope) {
        if (here.first >= here.stop) return;
        const std::string_view word = at(here.first);
        if (is_one_of(word, "import", "__exported", "module", "implementing", "__include", "using", "layout",
                      "precision", "static_assert", "associatedtype", "cbuffer", "tbuffer"))
            return;
        const std::size_t value = std::min(find(here.first, here.stop, "="), here.stop);
        if (is_one_of(word, "typedef", "typealias")) {
            open_named(here, word == "typealias" ? here.first + 1 : here.stop - 1, scope);
            return;
        }
        if (function_name({here.begin, here.first, value, here.access})) {
            read_function({here.begin, here.first, value, here.access}, scope);
            return;
        }
        bool is_static = false;
        bool is_const = false;
        for (std::size_t i = here.begin; i < value; ++i) {
            if (at(i) == "[") i = find(i + 1, value, "]");
            if (at(i) == "(") return;
            is_static = is_static || is_one_of(at(i), "static", "groupshared");
            is_const = is_const || at(i) == "const";
        }
        std::vector<std::size_t> names = names_of(here.first, here.stop);
        if (names.empty()) return;
        if (scope.record != nullptr && !is_static) {
            scope.record->fields.push_back({here, std::move(names)});
        } else if (!is_static || is_const) {
            // Kernels name constants, as in types of arrays, and globals that they set.
            const auto is_free = [&](std::size_t name) { return !access_.elsewhere.contains(at(name)); };
            if (std::all_of(names.begin(), names.end(), is_free)) open_named(here, names.front(), scope);
        }
    }

    /// "f" of "T f<T>(T x)"; nothing for constructors, operators, and what macros write.
    [[nodiscard]] std::optional<std::size_t> function_name(const Declaration& here) const {
        std::size_t i = here.first;
        while (i < here.stop && at(i) != "(") {
            if (is_one_of(at(i), "=", "operator")) return {};
            i = behind_group(view_, i);
        }
        if (i >= here.stop || i <= here.first + 1) return {};
        // What is generic has its parameters between.
        const std::size_t before = view_.opening_angle(i - 1);
        const std::size_t name = at(before) == "<" ? before - 1 : i - 1;
        return name > here.first && is_word(name) ? std::optional(name) : std::nullopt;
    }

    void read_function(const Declaration& here, const Scope& scope) {
        const std::optional<std::size_t> name = function_name(here);
        if (!name || here.says(tokens_, "public") || open_named(here, *name, scope)) return;
        // What an interface asks for is as public as that is.
        if (!access_.keeps_to_itself || (scope.record != nullptr && scope.record->conforms)) return;
        const std::size_t offset = tokens_.all[*name].offset;
        result_.closed_functions.emplace(places_.line(offset), places_.column(offset));
    }

    /// "a" and "b" of "float a[2] = {1}, b : SEMANTIC" and of "let a : float".
    [[nodiscard]] std::vector<std::size_t> names_of(std::size_t begin, std::size_t end) const {
        std::vector<std::size_t> names;
        std::optional<std::size_t> last;
        std::size_t words = 0;
        bool named = false;
        for (std::size_t i = begin; i <= end; ++i) {
            const std::string_view word = i < end ? at(i) : ";";
            if (is_one_of(word, "[", "<")) {
                i = behind_group(view_, i) - 1;
                continue;
            }
            const bool scope = word == ":" && (at(i + 1) == ":" || (i > begin && at(i - 1) == ":"));
            const bool ends = !scope && is_one_of(word, ",", ";", "=", ":");
            if (ends && !named && last && (words > 1 || !names.empty())) names.push_back(*last);
            named = named || ends;
            if (word == ",") {
                named = false;
                last.reset();
            }
            if (i < end && is_word(i)) {
                last = i;
                ++words;
            }
        }
        return names;
    }

    /// Returns whether the declaration is made public.
    bool open_named(const Declaration& here, std::size_t name, const Scope& scope) {
        const bool may = scope.opens && is_word(name) && !here.says(tokens_, "public") &&
                         !here.says(tokens_, "private") && !access_.elsewhere.contains(at(name));
        if (may) open(here);
        return may;
    }

    bool open_type(const Declaration& here, std::size_t name, const Scope& scope) {
        const bool opened = open_named(here, name, scope);
        if (!opened && access_.keeps_to_itself && !here.says(tokens_, "public"))
            result_.closed_types.push_back(scope.prefix + std::string(at(name)));
        return opened;
    }

    void open(const Declaration& here) {
        if (here.access) {
            replaced_.insert(*here.access);
        } else {
            opened_.insert(here.begin);
        }
    }

    void open_fields(const Struct& record) {
        // Slang makes a constructor of the fields that are as public as the struct, in order. Where a closed
        // field comes before one of those, a call of it, as "{1, 2}" is, would mean other fields.
        const auto is_closed = [&](const FieldDeclaration& field) {
            return record.is_public ? !field.declaration.says(tokens_, "public")
                                    : field.declaration.says(tokens_, "private");
        };
        const auto closed = std::find_if(record.fields.begin(), record.fields.end(), is_closed);
        const bool meets_public = std::any_of(
            closed, record.fields.end(), [&](const FieldDeclaration& field) { return !is_closed(field); });
        const bool opens_all = opening_ != Opening::nothing && (record.has_constructor || !meets_public);
        for (const FieldDeclaration& field : record.fields) {
            if (field.declaration.says(tokens_, "public")) continue;
            const bool opens = opens_all || !is_closed(field);
            if (opens) open(field.declaration);
            for (const std::size_t name : field.names) {
                const std::size_t offset = tokens_.all[name].offset;
                if (!opens) {
                    result_.closed_fields.push_back(
                        {record.name, std::string(at(name)), places_.line(offset), places_.column(offset)});
                } else if (field.declaration.says(tokens_, "private") ||
                           access_.elsewhere.contains(at(name))) {
                    result_.opens_more = true;
                }
            }
        }
    }

    [[nodiscard]] std::string line_directive(std::size_t offset) const {
        return "#line " + std::to_string(places_.line(offset)) + "\n";
    }

    [[nodiscard]] std::string written() const {
        std::map<std::size_t, std::string> insertions;
        bool has_conditional = false;
        for (const std::size_t first : opened_) {
            const Token& token = tokens_.all[first];
            const std::size_t before =
                first == 0 ? 0 : tokens_.all[first - 1].offset + tokens_.all[first - 1].text.size();
            const std::size_t directives = first == 0 ? 0 : tokens_.all[first - 1].directives;
            // What stands behind a struct on its last line is a variable's.
            if (text_.substr(before, token.offset - before).find('\n') != std::string_view::npos &&
                directives == token.directives && (first == 0 || at(first - 1) != "}")) {
                insertions[before] += " public";
                continue;
            }
            has_conditional = has_conditional || token.conditional;
            insertions[token.offset] +=
                "\npublic\n" + line_directive(token.offset) +
                std::string(static_cast<std::size_t>(places_.column(token.offset) - 1), ' ');
        }
        // A #line in a branch that is left out counts for nothing.
        if (has_conditional) {
            for (const std::size_t branch : tokens_.branches)
                insertions[branch] = line_directive(branch) + insertions[branch];
        }
        std::string result(text_);
        for (const std::size_t access : replaced_) {
            const Token& token = tokens_.all[access];
            constexpr std::string_view word = "public";
            result.replace(token.offset, token.text.size(),
                           std::string(word) + std::string(token.text.size() - word.size(), ' '));
        }
        for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion)
            result.insert(insertion->first, insertion->second);
        return result;
    }

    std::string_view text_;
    const FileAccess& access_;
    Opening opening_;
    Tokens tokens_;
    TokenView view_{tokens_};
    Places places_;
    std::set<std::size_t> opened_;    ///< the first tokens of declarations that say nothing of it
    std::set<std::size_t> replaced_;  ///< `internal` and `private`
    OpenedText result_;
};

/// The first of `closed` that the type names; empty where it names none.
std::string closed_type_in(const Type& type, const std::vector<std::string>& closed) {
    std::string name = type.name.substr(0, type.name.find('<'));
    if (std::find(closed.begin(), closed.end(), name) != closed.end()) return name;
    std::string found;
    for (const Type& element : type.element) found = found.empty() ? closed_type_in(element, closed) : found;
    for (const Field& field : type.fields) found = found.empty() ? closed_type_in(field.type, closed) : found;
    return found;
}

}  // namespace

OpenedText open_declarations(std::string_view text, const FileAccess& access, Opening opening) {
    text = without_byte_order_mark(text);
    if (!access.keeps_to_itself && text.find("public") == std::string_view::npos)
        return {std::string(text), {}, {}, {}, false};
    return DeclarationReader(text, access, opening).run();
}

void mark_closed_types(const std::map<std::string, OpenedText>& opened,
                       std::vector<GlobalParameter>& globals) {
    for (GlobalParameter& global : globals) {
        const auto text = opened.find(global.location.file);
        if (text != opened.end()) global.closed_type = closed_type_in(global.type, text->second.closed_types);
    }
}

void mark_closed(const std::map<std::string, OpenedText>& opened, Module& module) {
    const auto mark = [&](std::vector<Function>& functions) {
        for (Function& function : functions) {
            const auto file = opened.find(function.location.file);
            function.is_closed =
                file != opened.end() &&
                file->second.closed_functions.contains({function.location.line, function.location.column});
        }
    };
    mark(module.functions);
    for (NamedModule& named : module.modules) mark(named.functions);
}

}  // namespace kf::gen
