// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/own_types.h"

#include <algorithm>
#include <array>

#include "slang/lexed_text.h"
#include "slang/module_texts.h"

namespace kf::gen {

namespace {

/// A name, and the module whose type it means.
struct OwnType {
    std::string_view name;
    std::string_view module;
};

constexpr std::array<OwnType, 29> own_types{{{"TensorView", "kf_views"},
                                             {"DiffTensorView", "kf_views"},
                                             {"TorchTensor", "kf_views"},
                                             {"DiffTexture2D", "kf_diff_textures"},
                                             {"Buffer", "kf_buffers"},
                                             {"RWBuffer", "kf_buffers"},
                                             {"AppendStructuredBuffer", "kf_buffers"},
                                             {"ConsumeStructuredBuffer", "kf_buffers"},
                                             {"Texture1D", texture_module},
                                             {"Texture1DArray", texture_module},
                                             {"Texture2D", texture_module},
                                             {"Texture2DArray", texture_module},
                                             {"Texture3D", texture_module},
                                             {"TextureCube", texture_module},
                                             {"TextureCubeArray", texture_module},
                                             {"RWTexture1D", texture_module},
                                             {"RWTexture1DArray", texture_module},
                                             {"RWTexture2D", texture_module},
                                             {"RWTexture2DArray", texture_module},
                                             {"RWTexture3D", texture_module},
                                             {"Sampler1D", texture_module},
                                             {"Sampler1DArray", texture_module},
                                             {"Sampler2D", texture_module},
                                             {"Sampler2DArray", texture_module},
                                             {"Sampler3D", texture_module},
                                             {"SamplerCube", texture_module},
                                             {"SamplerCubeArray", texture_module},
                                             {"SamplerState", texture_module},
                                             {"SamplerComparisonState", texture_module}}};

const OwnType* find_own_type(std::string_view word) {
    const auto found = std::find_if(own_types.begin(), own_types.end(),
                                    [&](const OwnType& type) { return type.name == word; });
    return found == own_types.end() ? nullptr : &*found;
}

/// Whether any of the names is in a text at all, which spares the others from being lexed.
bool may_name(std::string_view text) {
    return std::any_of(own_types.begin(), own_types.end(),
                       [&](const OwnType& type) { return text.find(type.name) != std::string_view::npos; });
}

bool declares(std::string_view word) {
    return word == "struct" || word == "typealias" || word == "class" || word == "enum" ||
           word == "interface";
}

/// The modules with the names that the text declares.
ModuleNames modules_declared(const LexedText& text) {
    ModuleNames modules;
    const auto add = [&](std::string_view name) {
        if (const OwnType* type = find_own_type(name)) modules.insert(type->module);
    };
    for (std::size_t index = 1; index < text.size(); ++index) {
        if (declares(text[index - 1])) {
            add(text[index]);
        } else if (text[index - 1] == "typedef") {
            while (index < text.size() && text[index] != ";") ++index;
            add(text[index - 1]);
        }
    }
    return modules;
}

/// Calls visit(type) for each of the names that stands for a type: with arguments, or before what has it.
template <class Visit>
void each_named(const LexedText& text, Visit visit) {
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text.kind(index) == Lexeme::Kind::directive) {
            // Behind its #, a macro's text is lexed as others are.
            each_named(LexedText(text[index].substr(1)), visit);
        } else if (const OwnType* type = find_own_type(text[index])) {
            // Nobody calls a variable Texture2D, and arguments of types have nothing behind them.
            const bool is_type =
                text[index + 1] == "<" || text.is_word(index + 1) || type->module == texture_module;
            const bool is_member = index > 0 && text[index - 1] == ".";
            if (is_type && !is_member) visit(*type);
        }
    }
}

/// The modules whose types the text names, but for those that it shadows or imports itself.
ModuleNames modules_named(std::string_view text) {
    ModuleNames modules;
    if (!may_name(text)) return modules;
    const LexedText lexed(text);
    each_named(lexed, [&](const OwnType& type) { modules.insert(type.module); });
    for (const std::string_view module : modules_declared(lexed)) modules.erase(module);
    for (std::size_t index = 0; index < lexed.size() && !modules.empty(); ++index)
        if (lexed[index] == "import") modules.erase(imported_name(lexed, index + 1));
    return modules;
}

}  // namespace

ModuleNames shadowed_modules(const std::vector<std::pair<std::string, std::string>>& texts) {
    ModuleNames shadowed;
    for (const auto& [path, text] : texts)
        if (may_name(text)) shadowed.merge(modules_declared(LexedText(text)));
    return shadowed;
}

std::string with_own_types(std::string_view text, const ModuleNames& shadowed) {
    std::string imports;
    for (const std::string_view module : modules_named(text))
        if (!shadowed.contains(module)) imports += "import " + std::string(module) + ";\n";
    return std::string(text) + (imports.empty() ? "" : "\n") + imports;
}

bool has_foreign_names(std::string_view support_module) {
    return support_module == "kf_views" || support_module == "kf_diff_textures" ||
           support_module == "slangpy";
}

bool name_textures(const std::vector<std::pair<std::string, std::string>>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [](const auto& text) { return modules_named(text.second).contains(texture_module); });
}

bool name_foreign_types(const std::vector<std::pair<std::string, std::string>>& texts) {
    return std::any_of(texts.begin(), texts.end(), [](const auto& text) {
        return text.second.find("slangpy") != std::string::npos ||
               std::ranges::any_of(modules_named(text.second), has_foreign_names);
    });
}

}  // namespace kf::gen
