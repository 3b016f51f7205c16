// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/tensor_constraints.h"

#include <algorithm>
#include <set>
#include <string>

#include "slang/lexer.h"
#include "slang/sources.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

class Text {
public:
    explicit Text(std::string_view text) : text_(text) {
        for (const Lexeme& lexeme : lex(text)) {
            if (lexeme.kind != Lexeme::Kind::comment) lexemes_.push_back(lexeme);
        }
    }

    [[nodiscard]] std::size_t size() const { return lexemes_.size(); }
    [[nodiscard]] Lexeme::Kind kind(std::size_t index) const { return lexemes_[index].kind; }
    /// Nothing beyond the end.
    [[nodiscard]] std::string_view operator[](std::size_t index) const {
        if (index >= lexemes_.size()) return {};
        return text_.substr(lexemes_[index].begin, lexemes_[index].end - lexemes_[index].begin);
    }

    [[nodiscard]] Location place(const std::string& file, std::size_t index) const {
        const std::string_view before = text_.substr(0, lexemes_[index].begin);
        const std::size_t line_start = before.rfind('\n') + 1;  // 0 on the first line
        return {file, std::count(before.begin(), before.end(), '\n') + 1,
                static_cast<std::int64_t>(before.size() - line_start) + 1};
    }

    /// From the name on, with its arguments.
    [[nodiscard]] std::string type_at(std::size_t name) const {
        std::string type;
        int depth = 0;
        for (std::size_t index = name; index < size(); ++index) {
            type += (*this)[index];
            type += (*this)[index] == "," ? " " : "";
            depth += (*this)[index] == "<" ? 1 : (*this)[index] == ">" ? -1 : 0;
            if (index > name && depth == 0) break;
        }
        return type;
    }

    /// Whether what begins there stands behind the colon of a generic parameter: in its list, or after
    /// "where".
    [[nodiscard]] bool constrains(std::size_t index) const {
        bool colon = false;
        int depth = 0;
        while (index-- > 0) {
            const std::string_view text = (*this)[index];
            if (text == "where") return colon;
            if (text == "<" && depth == 0) return colon;
            if (text == "," && depth == 0 && !colon) return false;
            depth += text == ">" ? 1 : text == "<" ? -1 : 0;
            const bool twice = text == ":" && index > 0 && (*this)[index - 1] == ":";
            colon = colon || (text == ":" && !twice && depth == 0);
            index -= twice ? 1 : 0;
            const bool goes_on = text == ">" || text == "<" || text == "," || text == ":" || text == "&" ||
                                 text == "." || (text == "=" && colon);
            if (!goes_on && kind(index) != Lexeme::Kind::word) return false;
        }
        return false;
    }

private:
    std::string_view text_;
    std::vector<Lexeme> lexemes_;
};

std::string_view unquoted(std::string_view literal) {
    return literal.size() < 2 ? std::string_view() : literal.substr(1, literal.size() - 2);
}

/// The file that `import image.io_tools;` means.
std::string file_of_module(std::string_view name) {
    std::string file(name);
    std::replace(file.begin(), file.end(), '.', '/');
    std::replace(file.begin(), file.end(), '_', '-');
    return file + ".slang";
}

class Search {
public:
    explicit Search(const std::vector<fs::path>& search_paths) : search_paths_(&search_paths) {}

    void read(const fs::path& given) {
        const std::string file = canonical_path(given).string();
        const std::string* read = seen_.insert(file).second ? sources_.find(file) : nullptr;
        if (read == nullptr) return;
        const Text text(*read);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text.kind(index) == Lexeme::Kind::directive) {
                read_directive(text[index], file);
            } else if (text[index] == "import" || text[index] == "__include") {
                read_import(text, index + 1, file);
            } else if (text[index] == "interface" || text[index] == "struct" || text[index] == "typealias") {
                own_.insert(std::string(text[index + 1]));
            } else if (names_tensor(text[index]) && text[index + 1] == "<" && text.constrains(index)) {
                found_.push_back({std::string(text[index]), text.type_at(index), text.place(file, index)});
            }
        }
    }

    [[nodiscard]] Diagnostics errors() const {
        Diagnostics errors;
        for (const Found& found : found_) {
            // A module may have an interface of that name itself.
            if (!imports_tensors_ || own_.count(found.name) != 0) continue;
            errors.push_back({Severity::error,
                              "slang-E30401",
                              found.place,
                              "type '" + found.type + "' cannot be used as a constraint",
                              {std::string(tensor_constraint_cure())}});
        }
        return errors;
    }

private:
    struct Found {
        std::string name;
        std::string type;
        Location place;
    };

    void read_directive(std::string_view directive, const fs::path& from) {
        const std::size_t open = directive.find('"');
        if (directive.find("include") >= open || open == std::string_view::npos) return;
        directive.remove_prefix(open + 1);
        read_found(directive.substr(0, directive.find('"')), from);
    }

    void read_import(const Text& text, std::size_t index, const fs::path& from) {
        if (index < text.size() && text.kind(index) == Lexeme::Kind::literal) {
            const std::string name(unquoted(text[index]));
            read_found(name, from);
            read_found(name + ".slang", from);
            return;
        }
        std::string name;
        for (; index < text.size() && text[index] != ";"; ++index) name += text[index];
        imports_tensors_ = imports_tensors_ || name == "kf" || name == "slangpy";
        std::string as_written = name;
        std::replace(as_written.begin(), as_written.end(), '.', '/');
        read_found(file_of_module(name), from);
        read_found(as_written + ".slang", from);
    }

    void read_found(const fs::path& name, const fs::path& from) {
        std::vector<fs::path> folders = *search_paths_;
        folders.insert(folders.begin(), from.parent_path());
        for (const fs::path& folder : folders) {
            std::error_code failure;
            if (fs::is_regular_file(folder / name, failure)) return read(folder / name);
        }
    }

    const std::vector<fs::path>* search_paths_;
    Sources sources_{{}};
    std::set<std::string> seen_;
    std::set<std::string> own_;  ///< types that the files declare
    std::vector<Found> found_;
    bool imports_tensors_ = false;
};

}  // namespace

std::string_view tensor_constraint_cure() {
    return "kf's tensor types are structs, IDiffTensor and its kin too: write 'IDiffTensor<float, 1> t' for "
           "'T t'; its element may be generic, 'IDiffTensor<E, 1> t' with <E : __BuiltinFloatingPointType>";
}

bool names_tensor(std::string_view type) {
    std::string_view name = type.substr(0, type.find('<'));
    if (name == "AtomicTensor") return true;
    if (name.starts_with('I')) name.remove_prefix(1);
    name.remove_prefix(name.starts_with("RW") ? 2 : name.starts_with('W') ? 1 : 0);
    return name == "Tensor" || name == "DiffTensor" || name == "PrimalTensor";
}

Diagnostics find_tensor_constraints(const std::vector<fs::path>& modules,
                                    const std::vector<fs::path>& search_paths) {
    Search search(search_paths);
    for (const fs::path& module : modules) search.read(module);
    return search.errors();
}

}  // namespace kf::gen
