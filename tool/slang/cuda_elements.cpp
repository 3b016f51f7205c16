// Assignments to elements in Slang's CUDA code, which CUDA 13's compilers get wrong.
#include "slang/cuda_elements.h"

#include <algorithm>

namespace kf::gen {

namespace {

/// Where a statement assigns to an element as a whole: the " = " behind it; npos where it doesn't.
std::size_t end_of_element(std::string_view statement) {
    int depth = 0;
    for (std::size_t at = 0; at < statement.size(); ++at) {
        const char c = statement[at];
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c != ' ' || depth > 0) continue;
        const bool assigns = statement.substr(at, 3) == " = " && at > 1;
        const bool element = assigns && (statement[at - 1] == ']' || statement.substr(at - 2, 2) == "])");
        if (!element || !statement.ends_with(';')) return std::string_view::npos;
        // A list in braces has no type that a template could deduce. Modules' own code may have more in a
        // line.
        const std::string_view value = statement.substr(at + 3, statement.size() - at - 4);
        const bool is_alone = value.find(';') == std::string_view::npos &&
                              value.find("//") == std::string_view::npos &&
                              value.find("/*") == std::string_view::npos;
        return is_alone && !value.starts_with('{') ? at : std::string_view::npos;
    }
    return std::string_view::npos;
}

}  // namespace

std::string name_stored_elements(std::string_view code) {
    std::string result;
    while (!code.empty()) {
        const std::size_t length = std::min(code.find('\n'), code.size());
        const std::string_view line = code.substr(0, length);
        const std::size_t begin = std::min(line.find_first_not_of(' '), length);
        const std::string_view statement = line.substr(begin);
        const std::size_t end = end_of_element(statement);
        if (end == std::string_view::npos) {
            result += line;
        } else {
            result.append(line.substr(0, begin)).append("kf_store(").append(statement.substr(0, end));
            result.append(", ").append(statement.substr(end + 3, statement.size() - end - 4)).append(");");
        }
        if (length < code.size()) result += '\n';
        code.remove_prefix(std::min(length + 1, code.size()));
    }
    return result;
}

}  // namespace kf::gen
