// Finds declarations by their tokens, and writes `public` before them.
#include "slang/access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>

#include "slang/insertions.h"
#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// "define" of "# define X 1".
std::string_view name_of_directive(std::string_view directive) { return LexedText(directive.substr(1))[0]; }

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view without_mark(std::string_view text) {
    return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

/// What kernels call without a name in front of it, by Slang's meaning.
constexpr std::array<std::string_view, 12> words_of_kernels{
    "min",    "max",     "all",      "any",      "select",   "firstbithigh",
    "asuint", "asfloat", "diffPair", "fwd_diff", "bwd_diff", "DifferentialPair"};

/// Tells whether a macro of the text may write `public`.
bool defines_public(const LexedText& text) {
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text.kind(index) == Lexeme::Kind::directive && name_of_directive(text[index]) == "define" &&
            text[index].find("public") != std::string_view::npos)
            return true;
    }
    return false;
}

bool says_access(std::string_view word) { return is_one_of(word, "public", "internal", "private"); }

bool keeps_to_itself(std::string_view text) {
    const Tokens tokens = tokenise(text);
    for (std::size_t i = 0; i < tokens.all.size(); ++i) {
        const Token& token = tokens.all[i];
        if (token.conditional || !token.word) continue;
        // Slang takes these for names, too: "float internal".
        const bool modifies =
            i + 1 < tokens.all.size() && (tokens.all[i + 1].word || tokens.all[i + 1].text == "[");
        if ((says_access(token.text) && modifies) || token.text == "__include") return true;
        if (i == 0 && is_one_of(token.text, "module", "implementing")) return true;
    }
    int conditions = 0;
    const LexedText lexemes(text);
    for (std::size_t index = 0; index < lexemes.size(); ++index) {
        if (lexemes.kind(index) != Lexeme::Kind::directive) continue;
        const std::string_view name = name_of_directive(lexemes[index]);
        if (is_one_of(name, "if", "ifdef", "ifndef")) ++conditions;
        if (name == "endif") --conditions;
        if (is_one_of(name, "language", "lang") && conditions == 0) return true;
    }
    return false;
}

/// The modules that files belong to, each by the file that it begins with.
class ModuleGraph {
public:
    ModuleGraph(const std::vector<ModuleFile>& files, const std::vector<std::string>& listed)
        : listed_(listed) {
        for (const ModuleFile& file : files) files_.emplace(file.path, &file);
        std::set<std::string> roots(listed.begin(), listed.end());
        for (const ModuleFile& file : files) roots.insert(file.imports.begin(), file.imports.end());
        for (const std::string& root : roots) {
            collect(root, parts_[root]);
            for (const std::string& part : parts_[root]) owners_[part].insert(root);
        }
        for (const auto& [root, parts] : parts_) {
            for (const std::string& part : parts) {
                for (const std::string& import : files_.at(part)->imports) importers_[import].insert(root);
            }
        }
    }

    /// Those of modules that keep to themselves what isn't public, each without a macro that may write it. A
    /// file that a module without `public` includes, too, would close that one.
    [[nodiscard]] std::set<std::string> closed_files() const {
        std::set<std::string> closed;
        std::set<std::string> open;
        for (const auto& module : parts_) {
            const std::set<std::string>& parts = module.second;
            const auto any = [&](const auto& holds) {
                return std::any_of(parts.begin(), parts.end(), holds);
            };
            const bool keeps = any([&](const std::string& part) {
                return keeps_to_itself(without_mark(files_.at(part)->text));
            });
            const bool hides = any(
                [&](const std::string& part) { return defines_public(LexedText(files_.at(part)->text)); });
            (keeps && !hides ? closed : open).insert(parts.begin(), parts.end());
        }
        for (const std::string& path : open) closed.erase(path);
        return closed;
    }

    /// The files of other modules that may see what is declared in the file.
    [[nodiscard]] std::set<std::string> seen_by(const std::string& path) const {
        std::set<std::string> modules;
        const auto owners = owners_.find(path);
        if (owners == owners_.end()) return modules;
        for (const std::string& owner : owners->second) {
            add_importers(owner, modules);
            if (std::find(listed_.begin(), listed_.end(), owner) != listed_.end())
                modules.insert(listed_.begin(), listed_.end());
        }
        if (owners->second.size() == 1) modules.erase(*owners->second.begin());
        std::set<std::string> files;
        for (const std::string& module : modules) {
            const auto parts = parts_.find(module);
            if (parts != parts_.end()) files.insert(parts->second.begin(), parts->second.end());
        }
        return files;
    }

private:
    void collect(const std::string& path, std::set<std::string>& parts) const {
        const auto file = files_.find(path);
        if (file == files_.end() || !parts.insert(path).second) return;
        for (const std::string& include : file->second->includes) collect(include, parts);
    }

    void add_importers(const std::string& module, std::set<std::string>& all) const {
        const auto direct = importers_.find(module);
        if (direct == importers_.end()) return;
        for (const std::string& importer : direct->second) {
            if (all.insert(importer).second) add_importers(importer, all);
        }
    }

    std::vector<std::string> listed_;
    std::map<std::string, const ModuleFile*> files_;
    std::map<std::string, std::set<std::string>> parts_;
    std::map<std::string, std::set<std::string>> owners_;
    std::map<std::string, std::set<std::string>> importers_;
};

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
        int angles = 0;
        for (std::size_t i = here.first; i < here.stop; ++i) {
            if (at(i) == word && angles == 0) return i;
            angles += at(i) == "<" ? 1 : at(i) == ">" ? -1 : 0;
            // Generic parameters and bases aren't what is declared.
            if (angles == 0 && is_one_of(at(i), "(", "=", ":")) break;
        }
        return here.stop;
    }

    [[nodiscard]] Declaration declaration(std::size_t begin, std::size_t stop) const {
        Declaration found{begin, begin, stop, {}};
        while (found.first < stop) {
            if (at(found.first) == "[") {
                found.first = find(found.first + 1, stop, "]") + 1;
            } else if (says_access(at(found.first))) {
                found.access = found.first++;
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
                read(stop + 1, close, {scope.prefix, &extended, scope.opens});
            } else if (const std::size_t type =
                           std::min(find_word(here, "interface"), find_word(here, "enum"));
                       type < stop) {
                open_named(here, type + (at(type + 1) == "class" ? 2 : 1), scope);
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
        const bool opened = !record.is_public && open_named(here, word + 1, scope);
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
        int angles = 0;
        for (std::size_t i = here.first; i < here.stop; ++i) {
            const std::string_view word = at(i);
            if (word == "[") i = find(i + 1, here.stop, "]");
            if ((word == "=" && angles == 0) || word == "operator") return {};
            angles += word == "<" ? 1 : word == ">" ? -1 : 0;
            if (word != "(" || angles != 0) continue;
            std::size_t name = i;
            do {
                if (name <= here.first + 1) return {};
                --name;
                angles += at(name) == ">" ? 1 : at(name) == "<" ? -1 : 0;
            } while (angles > 0 || at(name) == "<");
            return is_word(name) ? std::optional(name) : std::nullopt;
        }
        return {};
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
            if (angles == 0 && i < end && is_word(i)) {
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
    Places places_;
    std::set<std::size_t> opened_;    ///< the first tokens of declarations that say nothing of it
    std::set<std::size_t> replaced_;  ///< `internal` and `private`
    OpenedText result_;
};

}  // namespace

FileAccesses file_accesses(const std::vector<ModuleFile>& files, const std::vector<std::string>& listed,
                           const std::vector<std::pair<std::string, std::string>>& defines) {
    std::set<std::string, std::less<>> everywhere(words_of_kernels.begin(), words_of_kernels.end());
    bool hides = false;
    for (const auto& [name, value] : defines) {
        const LexedText text(value);
        for (std::size_t index = 0; index < text.size(); ++index) everywhere.emplace(text[index]);
        hides = hides || everywhere.contains("public");
    }
    std::map<std::string, std::set<std::string, std::less<>>> words;
    for (const ModuleFile& file : files) {
        const LexedText text(file.text);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text.is_word(index)) words[file.path].emplace(text[index]);
        }
    }
    const ModuleGraph modules(files, listed);
    const std::set<std::string> closed = modules.closed_files();
    FileAccesses accesses;
    for (const ModuleFile& file : files) {
        FileAccess& access = accesses[file.path];
        access.keeps_to_itself = !hides && closed.contains(file.path);
        access.elsewhere = everywhere;
        for (const std::string& other : modules.seen_by(file.path))
            access.elsewhere.insert(words[other].begin(), words[other].end());
    }
    return accesses;
}

OpenedText open_declarations(std::string_view text, const FileAccess& access, Opening opening) {
    text = without_mark(text);
    if (!access.keeps_to_itself && text.find("public") == std::string_view::npos)
        return {std::string(text), {}, {}, false};
    return DeclarationReader(text, access, opening).run();
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
