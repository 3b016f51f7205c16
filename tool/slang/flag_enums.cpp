// Finds [Flags] before `enum` by the tokens between.
#include "slang/flag_enums.h"

#include <algorithm>
#include <cstddef>

#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {
namespace {

/// Returns whether [Flags] is among the attributes that end before a token.
bool has_flags(const LexedText& text, std::size_t end) {
    while (end > 0 && is_one_of(text[end - 1], "public", "internal", "private")) --end;
    bool found = false;
    while (end > 0 && text[end - 1] == "]") {
        std::size_t begin = end - 1;
        while (begin > 0 && text[begin] != "[") found = text[begin--] == "Flags" || found;
        end = begin;
    }
    return found;
}

}  // namespace

void find_flag_enums(std::string_view source, std::vector<std::string>& names) {
    const LexedText text(source);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != "enum" || !has_flags(text, i)) continue;
        const std::size_t name = text[i + 1] == "class" ? i + 2 : i + 1;
        if (text.is_word(name)) names.emplace_back(text[name]);
    }
}

}  // namespace kf::gen
