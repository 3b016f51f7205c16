// Which words can name what is generated.
#include "spec/names.h"

#include <algorithm>
#include <set>

namespace kf::gen {

bool is_reserved(std::string_view name) {
    static const std::set<std::string_view> words{"False",
                                                  "None",
                                                  "True",
                                                  "alignas",
                                                  "alignof",
                                                  "and",
                                                  "and_eq",
                                                  "as",
                                                  "asm",
                                                  "assert",
                                                  "async",
                                                  "auto",
                                                  "await",
                                                  "bitand",
                                                  "bitor",
                                                  "bool",
                                                  "break",
                                                  "case",
                                                  "catch",
                                                  "char",
                                                  "char16_t",
                                                  "char32_t",
                                                  "char8_t",
                                                  "class",
                                                  "co_await",
                                                  "co_return",
                                                  "co_yield",
                                                  "compl",
                                                  "concept",
                                                  "const",
                                                  "const_cast",
                                                  "consteval",
                                                  "constexpr",
                                                  "constinit",
                                                  "continue",
                                                  "decltype",
                                                  "def",
                                                  "default",
                                                  "del",
                                                  "delete",
                                                  "do",
                                                  "double",
                                                  "dynamic_cast",
                                                  "elif",
                                                  "else",
                                                  "enum",
                                                  "except",
                                                  "explicit",
                                                  "export",
                                                  "extern",
                                                  "false",
                                                  "finally",
                                                  "float",
                                                  "for",
                                                  "friend",
                                                  "from",
                                                  "global",
                                                  "goto",
                                                  "if",
                                                  "import",
                                                  "in",
                                                  "inline",
                                                  "int",
                                                  "is",
                                                  "kernelfunctions",
                                                  "kf",
                                                  "lambda",
                                                  "long",
                                                  "mutable",
                                                  "namespace",
                                                  "new",
                                                  "noexcept",
                                                  "nonlocal",
                                                  "not",
                                                  "not_eq",
                                                  "nullptr",
                                                  "operator",
                                                  "or",
                                                  "or_eq",
                                                  "pass",
                                                  "private",
                                                  "protected",
                                                  "public",
                                                  "raise",
                                                  "register",
                                                  "reinterpret_cast",
                                                  "requires",
                                                  "return",
                                                  "short",
                                                  "signed",
                                                  "sizeof",
                                                  "static",
                                                  "static_assert",
                                                  "static_cast",
                                                  "std",
                                                  "struct",
                                                  "switch",
                                                  "template",
                                                  "this",
                                                  "thread_local",
                                                  "throw",
                                                  "true",
                                                  "try",
                                                  "typedef",
                                                  "typeid",
                                                  "typename",
                                                  "union",
                                                  "unsigned",
                                                  "using",
                                                  "virtual",
                                                  "void",
                                                  "volatile",
                                                  "wchar_t",
                                                  "while",
                                                  "with",
                                                  "xor",
                                                  "xor_eq",
                                                  "yield"};
    return words.count(name) != 0;
}

bool is_identifier(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_part);
}

std::vector<std::string> name_parts(std::string_view name) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : name) {
        depth += c == '<' ? 1 : c == '>' ? -1 : 0;
        if (depth > 0 || c == '>') {
            continue;
        }
        if (c == '.' || c == ':') {
            if (!parts.back().empty()) {
                parts.emplace_back();
            }
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

std::string default_host_name(std::string_view function) {
    const std::vector<std::string> parts = name_parts(function);
    const bool constructor = parts.back() == "__init" && parts.size() > 1;
    return constructor ? parts[parts.size() - 2] : parts.back();
}

}  // namespace kf::gen
