// Leaves out declarations by their tokens: no macro is replaced.
#include "slang/crash_search.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

struct TopDeclaration {
    std::size_t file = 0;
    std::size_t begin = 0;  ///< offset in its text
    Location place;
};

void add_declarations(const std::vector<ModuleFile>& files, std::size_t file,
                      std::vector<TopDeclaration>& all) {
    const LexedText text(files[file].text);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.kind(at) == Lexeme::Kind::directive || text[at] == ";") continue;
        const std::size_t first = at;
        bool ends = false;
        for (; at < text.size() && !ends; ++at) {
            const bool opens = text[at] == "{" || text[at] == "(" || text[at] == "[";
            const bool braces = text[at] == "{";
            if (opens) at = std::min(text.closing(at), text.size() - 1);
            ends = braces || text[at] == ";";
        }
        --at;
        // Without these, all else of the module would mean something else.
        if (is_one_of(text[first], "module", "implementing")) continue;
        all.push_back({file, text.offset(first), text.place(files[file].path, first)});
    }
}

/// Makes blanks of all from there on but directives, which other text may depend on.
void leave_out(std::string& text, std::size_t begin) {
    for (const Lexeme& lexeme : lex(text)) {
        if (lexeme.begin >= begin && lexeme.kind != Lexeme::Kind::directive)
            blank_text(text, lexeme.begin, lexeme.end);
    }
}

}  // namespace

std::optional<Location> find_crash(
    const std::vector<ModuleFile>& files,
    const std::function<bool(const std::map<std::string, std::string>& texts)>& crashes) {
    std::vector<TopDeclaration> all;
    for (std::size_t file = files.size(); file-- > 0;) add_declarations(files, file, all);
    const auto crashes_with = [&](std::size_t count) {
        std::map<std::string, std::string> texts;
        for (const ModuleFile& file : files) texts.emplace(file.path, file.text);
        // The declarations that are left out are the last of each file.
        std::set<std::size_t> seen;
        for (std::size_t left = count; left < all.size(); ++left) {
            if (seen.insert(all[left].file).second)
                leave_out(texts.at(files[all[left].file].path), all[left].begin);
        }
        return crashes(texts);
    };
    if (all.empty() || crashes_with(0)) return std::nullopt;
    std::size_t none = 0;
    std::size_t some = all.size();
    while (some - none > 1) {
        const std::size_t middle = none + (some - none) / 2;
        (crashes_with(middle) ? some : none) = middle;
    }
    return all[some - 1].place;
}

}  // namespace kf::gen
