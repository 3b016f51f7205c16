// The names that Python, and the classes generated for structs, keep for themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

/// What calls take a parameter by. `jvp`: of a forward derivative.
[[nodiscard]] inline std::string python_keyword(const std::string& name, bool jvp) {
    const bool reserved = name == "out" || name == "shape" || name == "stream" || name == "reads" ||
                          name == "writes" || (jvp && name == "tangents");
    return reserved ? name + "_" : name;
}

/// What stubs call types by in a named tuple's fields, sorted.
inline constexpr std::array<std::string_view, 7> python_result_types{"bool", "float", "int", "kf",
                                                                     "list", "np",    "npt"};

/// The fields of a named tuple of results, in order: of such a name as it is. Named tuples have no leading _,
/// and no keywords; a trailing _ makes them others than those, than the types in a stub and than each other.
[[nodiscard]] inline std::vector<std::string> python_result_names(const std::vector<std::string>& results) {
    const auto field = [](const std::string& name) {
        std::string text = name.substr(std::min(name.find_first_not_of('_'), name.size()));
        if (text.empty() || (text.front() >= '0' && text.front() <= '9')) text.insert(0, "field");
        const bool kept = std::ranges::binary_search(python_keywords, std::string_view(text)) ||
                          std::ranges::binary_search(python_result_types, std::string_view(text));
        return kept ? text + "_" : text;
    };
    std::vector<std::string> names(results.size());
    const auto is_taken = [&](const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    };
    for (std::size_t i = 0; i < results.size(); ++i)
        if (field(results[i]) == results[i] && !is_taken(results[i])) names[i] = results[i];
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!names[i].empty()) continue;
        std::string name = field(results[i]);
        while (is_taken(name)) name += '_';
        names[i] = name;
    }
    return names;
}

/// Tuples have methods of this name: fields hide them.
[[nodiscard]] constexpr bool is_tuple_method(std::string_view name) {
    return name == "count" || name == "index";
}

}  // namespace kf::detail
