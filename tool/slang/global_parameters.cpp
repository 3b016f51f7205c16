// Finds declarations by their tokens: no macro is replaced, and branches that are left out count.
#include "slang/global_parameters.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/sha256.h"
#include "slang/block_values.h"
#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

/// Lexemes [first, second).
using Lexemes = std::pair<std::size_t, std::size_t>;

/// One name that a declaration declares.
struct Declarator {
    std::size_t name = 0;
    Lexemes extents;     ///< `[3]` behind the name
    Lexemes annotation;  ///< `: register(b0)`
};

/// One declaration of globals, which can be changed in place.
struct GlobalDeclaration {
    Lexemes modifiers;  ///< and attributes
    bool is_public = false;
    Lexemes type;            ///< of a block or buffer what is in it
    std::size_t block = 0;   ///< the word ParameterBlock or ConstantBuffer, or `size` of the text
    bool is_member = false;  ///< of a cbuffer
    std::vector<Declarator> names;
    std::size_t end = 0;  ///< its semicolon
};

struct FoundGlobals {
    std::vector<GlobalDeclaration> declarations;
    std::vector<std::pair<Lexemes, std::size_t>> groups;  ///< heads of cbuffers with their {, and the }
};

template <std::size_t N>
bool is_any_word(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words before a type, which say nothing to a variable that kernels set.
constexpr std::array<std::string_view, 7> modifier_words{
    "public", "internal", "uniform", "globallycoherent", "precise", "row_major", "column_major"};

/// Words that begin what is no global parameter.
constexpr std::array<std::string_view, 30> other_words{"static",
                                                       "const",
                                                       "extern",
                                                       "export",
                                                       "groupshared",
                                                       "import",
                                                       "module",
                                                       "implementing",
                                                       "__include",
                                                       "__exported",
                                                       "using",
                                                       "typedef",
                                                       "typealias",
                                                       "struct",
                                                       "class",
                                                       "enum",
                                                       "interface",
                                                       "extension",
                                                       "let",
                                                       "var",
                                                       "func",
                                                       "property",
                                                       "__generic",
                                                       "volatile",
                                                       "shared",
                                                       "in",
                                                       "out",
                                                       "inout",
                                                       "attribute_syntax",
                                                       "__extension"};

bool is_group(std::string_view word) { return word == "cbuffer" || word == "tbuffer"; }

class GlobalFinder {
public:
    explicit GlobalFinder(const LexedText& text) : text_(text) {}

    FoundGlobals find() {
        for (std::size_t at = 0; at < text_.size();) {
            const std::string_view word = text_[at];
            if (word == "namespace") {
                while (at < text_.size() && text_[at] != "{" && text_[at] != ";") ++at;
                ++at;
            } else if (word == "{") {
                at = behind(at);
            } else if (word == "}" || word == ";" || is_directive(at)) {
                ++at;
            } else if (is_group(text_[read_modifiers(at).modifiers.second])) {
                at = read_group(read_modifiers(at));
            } else {
                if (auto read = read_declaration(at)) found_.declarations.push_back(std::move(*read));
                while (at < text_.size() && text_[at] != ";" && text_[at] != "{" && !is_directive(at)) {
                    at = text_[at] == "[" || text_[at] == "(" ? behind(at) : at + 1;
                }
            }
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] bool is_directive(std::size_t at) const {
        return at < text_.size() && text_.kind(at) == Lexeme::Kind::directive;
    }
    [[nodiscard]] std::size_t behind(std::size_t open) const {
        return std::min(text_.closing(open), text_.size() - 1) + 1;
    }

    /// Reads a cbuffer, whose members must all be such declarations; returns where the next one may begin.
    std::size_t read_group(const GlobalDeclaration& group) {
        std::size_t at = group.modifiers.second;
        while (at < text_.size() && text_[at] != "{" && text_[at] != ";" && !is_directive(at)) ++at;
        if (text_[at] != "{") return at;
        const std::size_t close = text_.closing(at);
        const Lexemes range{group.modifiers.first, at + 1};
        std::vector<GlobalDeclaration> members;
        for (++at; at < close;) {
            auto read = read_declaration(at);
            if (!read) break;
            at = read->end + 1;
            read->is_member = true;
            read->is_public = read->is_public || group.is_public;
            members.push_back(std::move(*read));
        }
        if (at == close && close < text_.size()) {
            found_.groups.emplace_back(range, close);
            std::move(members.begin(), members.end(), std::back_inserter(found_.declarations));
        }
        return std::min(close, text_.size() - 1) + 1;
    }

    /// A declaration's modifiers and attributes, and GLSL's `layout(binding = 1)`: kernels have no bindings.
    [[nodiscard]] GlobalDeclaration read_modifiers(std::size_t at) const {
        GlobalDeclaration global;
        global.modifiers.first = at;
        global.block = text_.size();
        for (;; ++at) {
            if (text_[at] == "[") {
                at = behind(at) - 1;
            } else if (text_[at] == "layout" && text_[at + 1] == "(") {
                at = behind(at + 1) - 1;
            } else if (is_any_word(modifier_words, text_[at])) {
                global.is_public = global.is_public || text_[at] == "public";
            } else {
                break;
            }
        }
        global.modifiers.second = at;
        return global;
    }

    /// What is declared there, where that can be changed.
    [[nodiscard]] std::optional<GlobalDeclaration> read_declaration(std::size_t at) const {
        GlobalDeclaration global = read_modifiers(at);
        at = global.modifiers.second;
        if (!text_.is_word(at) || is_any_word(other_words, text_[at])) return std::nullopt;
        const std::size_t end = type_end(at);
        global.type = {at, end};
        if (end == at || !text_.is_word(end)) return std::nullopt;
        if (is_block(text_[at])) {
            if (text_[at + 1] != "<" || text_[end - 1] != ">") return std::nullopt;
            global.block = at;
            // A second argument says how a block lies in memory, which a variable doesn't.
            global.type = {at + 2, find_outside(text_, at + 2, end - 1, ",")};
        }
        for (at = end;; ++at) {
            if (!text_.is_word(at)) return std::nullopt;
            Declarator& one = global.names.emplace_back();
            one.name = at++;
            one.extents.first = at;
            while (text_[at] == "[") at = behind(at);
            one.extents.second = one.annotation.first = at;
            if (text_[at] == ":") {
                while (at < text_.size() && text_[at] != "," && text_[at] != ";" && text_[at] != "{") {
                    at = text_[at] == "(" ? behind(at) : at + 1;
                }
            }
            one.annotation.second = at;
            if (text_[at] != ",") break;
        }
        global.end = at;
        // A second name would be in a block of its own.
        if (text_[at] != ";" || (global.names.size() > 1 && global.block < text_.size())) return std::nullopt;
        return global;
    }

    /// The lexeme behind a type that begins there: what is declared.
    [[nodiscard]] std::size_t type_end(std::size_t at) const {
        for (;;) {
            if (!text_.is_word(at)) return at;
            ++at;
            at = behind_angles(text_, at);
            if (text_[at] == ":" && text_[at + 1] == ":") {
                at += 2;
            } else if (text_[at] == ".") {
                ++at;
            } else {
                break;
            }
        }
        while (text_[at] == "*" || text_[at] == "[") at = text_[at] == "[" ? behind(at) : at + 1;
        return at;
    }

    const LexedText& text_;
    FoundGlobals found_;
};

/// What the names of a text's globals begin and end with, so that no other text's are the same.
class Ids {
public:
    explicit Ids(std::string_view text) : end_("_" + hex_digest(text).substr(0, 8)) {}

    /// Asked for each of the text's in turn, since namespaces may have the same.
    std::string next(std::string_view name) {
        return std::string(name) + "_" + std::to_string(++count_) + end_;
    }
    [[nodiscard]] bool is_here(const GlobalForm& form) const { return form.id.ends_with(end_); }

private:
    std::string end_;
    int count_ = 0;
};

/// Changes a text; what is put in goes where it stands in the original.
class Changes {
public:
    Changes(std::string_view text, const LexedText& lexed) : text_(text), lexed_(lexed) {}

    /// Leaves the lines that the lexemes are on.
    void blank(const Lexemes& range) {
        if (range.first < range.second)
            blank_text(text_, lexed_.offset(range.first), end_of(range.second - 1));
    }
    void put_before(std::size_t lexeme, const std::string& text) { puts_[lexed_.offset(lexeme)] += text; }
    void put_behind(std::size_t lexeme, const std::string& text) { puts_[end_of(lexeme)] += text; }

    /// The source of the lexemes on one line.
    [[nodiscard]] std::string written(const Lexemes& range) const {
        std::string text;
        for (std::size_t at = range.first; at < range.second; ++at) {
            // "::" is two lexemes here, and one in Slang.
            const bool is_second_colon = at > range.first && lexed_[at] == ":" && lexed_[at - 1] == ":" &&
                                         lexed_.offset(at) == end_of(at - 1);
            text += (text.empty() || is_second_colon ? "" : " ") + std::string(lexed_[at]);
        }
        return text;
    }
    /// The type of an array of the type, with its extents: "Array<float, (4)>" of "[4]".
    [[nodiscard]] std::string array_written(const std::string& type, const Lexemes& extents) const {
        std::vector<Lexemes> inner;
        int depth = 0;
        for (std::size_t at = extents.first; at < extents.second; ++at) {
            if (lexed_[at] == "[" && depth++ == 0) inner.emplace_back(at + 1, at + 1);
            if (lexed_[at] == "]" && --depth == 0) inner.back().second = at;
        }
        std::string text = type;
        for (auto extent = inner.rbegin(); extent != inner.rend(); ++extent)
            text = "Array<" + text + ", (" + written(*extent) + ")>";
        return text;
    }
    [[nodiscard]] std::string take() {
        for (auto put = puts_.rbegin(); put != puts_.rend(); ++put) text_.insert(put->first, put->second);
        return std::move(text_);
    }

private:
    [[nodiscard]] std::size_t end_of(std::size_t lexeme) const {
        return lexed_.offset(lexeme) + lexed_[lexeme].size();
    }

    std::string text_;
    const LexedText& lexed_;
    std::map<std::size_t, std::string> puts_;
};

void make_settable(const GlobalDeclaration& global, Ids& ids, const LexedText& lexed,
                   const std::vector<GlobalForm>& forms, Changes& changes) {
    const std::string type = changes.written(global.type);
    const std::string shown = global.is_public ? "public " : "";
    std::string behind;
    std::string others;  // declares the names without a form by themselves
    std::size_t properties = 0;
    std::size_t variables = 0;
    for (const Declarator& one : global.names) {
        const std::string name(lexed[one.name]);
        const std::string id = ids.next(name);
        const auto form =
            std::find_if(forms.begin(), forms.end(), [&](const GlobalForm& other) { return other.id == id; });
        if (global.is_member) changes.blank(one.annotation);
        if (form == forms.end()) {
            // Without the places that it binds, which the kernels' own buffers take.
            others += " " + shown + "uniform " + type + " " + name + changes.written(one.extents) + ";";
            continue;
        }
        ++(form->is_property ? properties : variables);
        const std::string getter = getter_name(id);
        const std::string whole = changes.array_written(type, one.extents);
        behind += form->is_property ? " extern " + whole + " " + getter + "(); " + shown + "property " +
                                          whole + " " + name + " { get { return " + getter + "(); } }"
                                    : " export void " + setter_name(id) + "(" + type + " kf_value" +
                                          changes.written(one.extents) + ") { " + name + " = kf_value; }";
    }
    // Names that are declared together have one type, so that those with a form have the same.
    if (properties + variables == 0) return;
    changes.put_behind(global.end, behind + (properties > 0 ? others : ""));
    if (properties > 0) return changes.blank({global.modifiers.first, global.end});
    changes.blank(global.modifiers);
    if (global.block < lexed.size()) {
        changes.blank({global.block, global.type.first});
        changes.blank({global.type.second, global.names.front().name});
    }
    changes.put_before(global.type.first, shown + "static ");
    for (const Declarator& one : global.names) changes.blank(one.annotation);
}

}  // namespace

std::vector<GlobalPlace> global_places(std::string_view text) {
    std::vector<GlobalPlace> places;
    const LexedText lexed(text);
    const FoundGlobals found = GlobalFinder(lexed).find();
    if (found.declarations.empty()) return places;
    Ids ids(text);
    for (const GlobalDeclaration& global : found.declarations) {
        for (const Declarator& one : global.names) {
            const Location place = lexed.place({}, one.name);
            places.push_back({place.line, place.column, ids.next(lexed[one.name])});
        }
    }
    return places;
}

std::string with_settable_globals(std::string_view text, const std::vector<GlobalForm>& forms) {
    if (forms.empty()) return std::string(text);
    Ids ids(text);
    if (std::none_of(forms.begin(), forms.end(), [&](const GlobalForm& form) { return ids.is_here(form); }))
        return std::string(text);
    const LexedText lexed(text);
    const FoundGlobals found = GlobalFinder(lexed).find();
    Changes changes(text, lexed);
    for (const auto& [head, close] : found.groups) {
        changes.blank(head);
        changes.blank({close, close + 1});
    }
    for (const GlobalDeclaration& global : found.declarations)
        make_settable(global, ids, lexed, forms, changes);
    return changes.take();
}

}  // namespace kf::gen
