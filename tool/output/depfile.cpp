// Depfiles in Make's syntax, as Ninja, Make and CMake read them.
#include "output/depfile.h"

#include <set>

namespace kf::gen {
namespace {

std::string escaped(const std::string& path) {
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (c == '$') {
            text += '$';
        } else if (c == '#') {
            text += '\\';
        } else if (c == ' ' || c == '\t') {
            // Make reads backslashes before a space in pairs: double those that are the name's own.
            for (std::size_t back = i; back > 0 && path[back - 1] == '\\'; --back) {
                text += '\\';
            }
            text += '\\';
        }
        text += c;
    }
    return text;
}

}  // namespace

std::string depfile_text(const std::vector<std::filesystem::path>& targets,
                         const std::vector<std::filesystem::path>& inputs) {
    std::string text;
    for (const std::filesystem::path& target : targets) {
        text += (text.empty() ? "" : " ") + escaped(target.string());
    }
    text += ':';
    std::set<std::string> sorted;
    for (const std::filesystem::path& input : inputs) {
        if (input.string().find_first_of("\r\n") == std::string::npos) {
            sorted.insert(input.string());
        }
    }
    for (const std::string& input : sorted) {
        text += " \\\n  " + escaped(input);
    }
    return text + '\n';
}

}  // namespace kf::gen
