// The words that each language keeps for itself.
#include "emit/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/python_names.h"
#include "plan/type_text.h"
#include "spec/cpp_macros.h"
#include "spec/names.h"

namespace kf::gen {
namespace {

/// The names that generated functions use themselves.
constexpr std::array<std::string_view, 5> cpp_reserved{"args", "backward", "encoder", "function_", "result"};

/// "Pair_float3_int" of "Pair<vector<float,3>, int>": no two underscores, which C++ reserves.
std::string generic_identifier(std::string_view name) {
    const std::optional<TypeText> type = parse_type(name);
    std::string text;
    for (const char c : type ? spelled(*type) : std::string(name)) {
        const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (word || (!text.empty() && text.back() != '_')) text += word ? c : '_';
    }
    if (text.ends_with('_')) text.pop_back();
    return text;
}

std::string identifier(std::string_view name) {
    std::string text =
        name.find('<') == std::string_view::npos ? std::string(name) : generic_identifier(name);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.insert(0, "_");
    return text;
}

bool contains(const auto& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string cpp_identifier(std::string_view name) {
    std::string text = identifier(name);
    const bool kept = is_cpp_keyword(text) || is_cpp_macro(text) || is_kept_by_cpp(text);
    return kept || contains(cpp_reserved, text) ? text + "_" : text;
}

std::string python_identifier(std::string_view name) {
    std::string text = identifier(name);
    const bool special = text.size() > 4 && text.starts_with("__") && text.ends_with("__");
    return special || contains(detail::python_keywords, text) ? text + "_" : text;
}

std::string pascal_case(std::string_view name) {
    std::string text;
    bool raise = true;
    for (const char c : identifier(name)) {
        if (c == '_') {
            raise = true;
            continue;
        }
        text += raise ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        raise = false;
    }
    // "_0" has lost what makes it a name.
    if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.insert(0, "_");
    return text;
}

std::string UniqueNames::claim(std::string name) { return claim_with(std::move(name), {}); }

std::string UniqueNames::claim_with(std::string name, std::span<const std::string_view> endings) {
    const auto is_taken = [&](std::string_view ending) {
        return taken_.contains(name + std::string(ending));
    };
    while (is_taken("") || std::any_of(endings.begin(), endings.end(), is_taken)) name += '_';
    taken_.insert(name);
    for (const std::string_view ending : endings) taken_.insert(name + std::string(ending));
    return name;
}

std::vector<std::string> claim_names(UniqueNames& names, const std::vector<std::string>& slang,
                                     std::string (*made)(std::string_view)) {
    std::vector<std::string> claimed(slang.size());
    for (const bool renamed : {false, true}) {
        for (std::size_t i = 0; i < slang.size(); ++i) {
            const std::string wanted = made(slang[i]);
            if (renamed == (wanted != slang[i])) claimed[i] = names.claim(wanted);
        }
    }
    return claimed;
}

}  // namespace kf::gen
