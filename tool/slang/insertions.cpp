// Puts texts between #line directives.
#include "slang/insertions.h"

#include <algorithm>
#include <utility>

namespace kf::gen {

std::size_t line_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t column_at(std::string_view text, std::size_t offset) {
    const std::size_t start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // 0 where there is none
    const std::string_view before = text.substr(start, offset - start);
    const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), begins_character));
}

std::string with_insertions(std::string_view text, const Tokens& tokens, Insertions insertions) {
    std::erase_if(insertions, [](const auto& insertion) { return insertion.second.empty(); });
    if (!insertions.empty() && tokens.counts_lines) {
        // A #line in a branch that is left out counts for nothing. These are empty, others aren't.
        for (const std::size_t branch : tokens.branches) {
            insertions[branch];
        }
    }
    std::string result;
    std::size_t copied = 0;
    std::size_t lines = 1;
    for (const auto& [offset, inserted] : insertions) {
        const std::string_view part = text.substr(copied, offset - copied);
        result += part;
        copied = offset;
        if (!tokens.counts_lines) {
            result += " " + inserted;
            continue;
        }
        lines += line_at(part, part.size()) - 1;
        result += (inserted.empty() ? "" : "\n" + inserted + "\n") + "#line " + std::to_string(lines) + "\n" +
                  std::string(column_at(text, offset) - 1, ' ');
    }
    return result.append(text.substr(copied));
}

}  // namespace kf::gen
