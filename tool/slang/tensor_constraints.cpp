// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/tensor_constraints.h"

#include <set>
#include <string>

#include "slang/lexed_text.h"
#include "slang/module_texts.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

/// Returns the type from its name on, with its arguments.
std::string type_at(const LexedText& text, std::size_t name) {
    std::string type;
    const std::size_t end = behind_group(text, name + 1);
    for (std::size_t index = name; index < end; ++index) {
        type += text[index];
        type += text[index] == "," ? " " : "";
    }
    return type;
}

/// Whether what begins there stands behind the colon of a generic parameter: in its list, or after "where".
bool constrains(const LexedText& text, std::size_t index) {
    bool colon = false;
    int depth = 0;
    while (index-- > 0) {
        const std::string_view word = text[index];
        if (word == "where") return colon;
        if (word == "<" && depth == 0) return colon;
        if (word == "," && depth == 0 && !colon) return false;
        depth += word == ">" ? 1 : word == "<" ? -1 : 0;
        const bool twice = word == ":" && index > 0 && text[index - 1] == ":";
        colon = colon || (word == ":" && !twice && depth == 0);
        index -= twice ? 1 : 0;
        const bool goes_on = word == ">" || word == "<" || word == "," || word == ":" || word == "&" ||
                             word == "." || (word == "=" && colon);
        if (!goes_on && text.kind(index) != Lexeme::Kind::word) return false;
    }
    return false;
}

class ConstraintSearch {
public:
    void look_into(const std::string& file, const std::string& content) {
        const LexedText text(content);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text[index] == "import") {
                const std::string name = imported_name(text, index + 1);
                imports_tensors_ = imports_tensors_ || name == "kf" || name == "slangpy";
            } else if (text[index] == "interface" || text[index] == "struct" || text[index] == "typealias") {
                own_.insert(std::string(text[index + 1]));
            } else if (names_tensor(text[index]) && text[index + 1] == "<" && constrains(text, index)) {
                found_.push_back({std::string(text[index]), type_at(text, index), text.place(file, index)});
            }
        }
    }

    [[nodiscard]] Diagnostics errors() const {
        Diagnostics errors;
        for (const Found& found : found_) {
            // A module may have an interface of that name itself.
            const bool is_known = imports_tensors_ || found.name == "DiffTexture2D";
            if (!is_known || own_.count(found.name) != 0) continue;
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
    if (name == "AtomicTensor" || name == "DiffTexture2D") return true;
    if (name.starts_with('I')) name.remove_prefix(1);
    name.remove_prefix(name.starts_with("RW") ? 2 : name.starts_with('W') ? 1 : 0);
    return name == "Tensor" || name == "DiffTensor" || name == "PrimalTensor";
}

Diagnostics find_tensor_constraints(const std::vector<fs::path>& modules,
                                    const std::vector<fs::path>& search_paths) {
    ConstraintSearch search;
    for (const auto& [file, text] : module_texts(modules, search_paths)) search.look_into(file, text);
    return search.errors();
}

}  // namespace kf::gen
