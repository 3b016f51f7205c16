// The names that Python, and the classes generated for structs, keep for themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kf::detail {

/// Sorted.
inline constexpr std::array<std::string_view, 35> python_keywords{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/// What the classes and their stubs call their own, sorted.
inline constexpr std::array<std::string_view, 12> python_class_names{
    "Any", "ClassVar", "_fields", "_made", "bool", "dtype", "float", "int", "kf", "np", "property", "self"};

[[nodiscard]] constexpr bool is_kept_by_python(std::string_view name) {
    return std::ranges::binary_search(python_keywords, name) ||
           std::ranges::binary_search(python_class_names, name);
}

/// The attribute of a generated class that holds a field: its name, behind which stand as many _ as it takes
/// where Python or the class keeps the name. `fields`: all of the struct's, anything with a `name`.
template <class Fields>
[[nodiscard]] std::string python_attribute(const Fields& fields, std::size_t field) {
    std::string name = fields[field].name;
    if (!is_kept_by_python(name)) return name;
    const auto is_field = [&](const auto& other) { return other.name == name; };
    while (std::any_of(fields.begin(), fields.end(), is_field)) name += '_';
    return name;
}

}  // namespace kf::detail
