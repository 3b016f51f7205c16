// Which words can name what is generated.
#include "spec/names.h"

#include <algorithm>
#include <array>

#include "core/python_names.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

/// The keywords of C++, sorted for a binary search.
constexpr std::array<std::string_view, 93> cpp_keywords{
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "typeof",       "union",
    "unsigned",    "using",    "virtual",    "void",      "volatile",  "wchar_t",      "while",
    "xor",         "xor_eq"};

}  // namespace

bool is_cpp_keyword(std::string_view name) { return std::ranges::binary_search(cpp_keywords, name); }

bool is_reserved(std::string_view name) {
    return is_cpp_keyword(name) || std::ranges::binary_search(detail::python_keywords, name) ||
           name == "kf" || name == "kernelfunctions" || name == "std";
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
    const OperatorSymbol symbol = operator_symbol(name).value_or(OperatorSymbol());
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (i >= symbol.begin && i < symbol.begin + symbol.size) {
            parts.back() += c;
            continue;
        }
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

std::string plain_name(std::string_view name) {
    std::string plain;
    for (const std::string& part : name_parts(name)) plain += (plain.empty() ? "" : ".") + part;
    return plain;
}

std::optional<std::string> without_names(std::string_view name, std::size_t count) {
    const auto is_separator = [](char c) { return c == '.' || c == ':'; };
    for (; count > 0; --count) {
        const auto end = std::find_if(name.begin(), name.end(), is_separator);
        const auto next = std::find_if_not(end, name.end(), is_separator);
        if (next == name.end() || std::find(name.begin(), end, '<') != end) return std::nullopt;
        name.remove_prefix(static_cast<std::size_t>(next - name.begin()));
    }
    return std::string(name);
}

std::string default_host_name(std::string_view function, std::size_t operands) {
    if (const auto symbol = operator_symbol(function))
        return operator_word(function.substr(symbol->begin, symbol->size), operands);
    const std::vector<std::string> parts = name_parts(function);
    const bool constructor = parts.back() == "__init" && parts.size() > 1;
    return constructor ? parts[parts.size() - 2] : parts.back();
}

}  // namespace kf::gen
