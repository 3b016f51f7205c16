// Compares the lines of warnings with those of entry points.
#include "slang/uncalled_entries.h"

#include <algorithm>

#include "slang/entry_points.h"

namespace kf::gen {

std::set<std::string> entry_macros(const std::map<std::filesystem::path, std::string>& texts,
                                   const std::vector<std::pair<std::string, std::string>>& defines) {
    std::set<std::string> macros;
    for (const auto& [name, value] : defines) macros.merge(entry_macros("#define " + name + " " + value));
    for (const auto& [path, text] : texts) macros.merge(entry_macros(text));
    return macros;
}

void drop_uncalled_entries(const std::map<std::filesystem::path, std::string>& texts,
                           const std::set<std::string>& macros, const std::vector<std::string>& called,
                           Diagnostics& warnings) {
    std::map<std::string, std::vector<EntryRange>> ranges;  // by file
    std::erase_if(warnings, [&](const Diagnostic& warning) {
        const auto text = texts.find(warning.location.file);
        if (text == texts.end()) return false;
        const auto [known, is_new] = ranges.try_emplace(warning.location.file);
        if (is_new) known->second = entry_ranges(text->second, macros);
        return std::ranges::any_of(known->second, [&](const EntryRange& range) {
            const auto is_named = [&](const std::string& one) {
                return one.substr(one.rfind('.') + 1) == range.name;
            };
            return range.first <= warning.location.line && warning.location.line <= range.last &&
                   std::none_of(called.begin(), called.end(), is_named);
        });
    });
}

}  // namespace kf::gen
