// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/view_types.h"

#include <algorithm>

#include "slang/lexed_text.h"
#include "slang/module_texts.h"

namespace kf::gen {

namespace {

bool is_view_type(std::string_view word) {
    return word == "TensorView" || word == "DiffTensorView" || word == "TorchTensor";
}

bool declares(std::string_view word) { return word == "struct" || word == "typealias" || word == "class"; }

}  // namespace

std::string with_view_types(std::string_view text) {
    std::string result(text);
    const auto names = [](std::string_view part) {
        return part.find("TensorView") != std::string_view::npos ||
               part.find("TorchTensor") != std::string_view::npos;
    };
    if (!names(text)) return result;
    const LexedText lexed(text);
    bool names_view = false;
    for (std::size_t index = 0; index < lexed.size(); ++index) {
        const bool begins = index == 0;
        if (is_view_type(lexed[index])) {
            if (!begins && declares(lexed[index - 1])) return result;
            names_view = true;
        } else if (lexed[index] == "import" && imported_name(lexed, index + 1) == "kf_views") {
            return result;
        } else if (lexed.kind(index) == Lexeme::Kind::directive && names(lexed[index])) {
            names_view = true;
        }
    }
    return names_view ? result + "\nimport kf_views;\n" : result;
}

bool has_foreign_names(std::string_view support_module) {
    return support_module == "kf_views" || support_module == "slangpy";
}

bool name_foreign_types(const std::vector<std::pair<std::string, std::string>>& texts) {
    return std::any_of(texts.begin(), texts.end(), [](const auto& text) {
        return text.second.find("slangpy") != std::string::npos ||
               with_view_types(text.second) != text.second;
    });
}

}  // namespace kf::gen
