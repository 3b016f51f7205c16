// The names that Python, calls, and the classes generated for structs keep for themselves. What has such a
// name in Slang has as many _ behind it in Python as it takes to be none of the names beside it, and at least
// one.
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
inline constexpr std::array<std::string_view, 13> python_class_names{
    "Any",   "ClassVar", "_defaults", "_fields", "_made",    "bool", "dtype",
    "float", "int",      "kf",        "np",      "property", "self"};

/// What calls take beside their parameters, and methods as their first one, sorted.
inline constexpr std::array<std::string_view, 7> python_call_names{"out",    "reads",    "self",  "shape",
                                                                   "stream", "tangents", "writes"};

/// What tangents are called among the parameters of a forward derivative, before the parameter's name.
inline constexpr std::array<std::string_view, 2> tangent_prefixes{"tangents.", "tangents_out."};

[[nodiscard]] constexpr bool is_kept_by_python(std::string_view name) {
    return std::ranges::binary_search(python_keywords, name) ||
           std::ranges::binary_search(python_class_names, name);
}

template <class IsTaken>
[[nodiscard]] std::string underscored(std::string name, IsTaken is_taken) {
    do name += '_';
    while (is_taken(name));
    return name;
}

/// The attribute of a generated class that holds a field. `fields`: all of the struct's, anything with a
/// `name`.
template <class Fields>
[[nodiscard]] std::string python_attribute(const Fields& fields, std::size_t field) {
    const auto is_field = [&](const std::string& name) {
        return std::any_of(fields.begin(), fields.end(), [&](const auto& one) { return one.name == name; });
    };
    const std::string& name = fields[field].name;
    return is_kept_by_python(name) ? underscored(name, is_field) : name;
}

/// What a call takes its parameters by. `names`: all of its parameters', in Slang; tangents are called after
/// their parameters.
[[nodiscard]] inline std::vector<std::string> python_parameters(const std::vector<std::string>& names) {
    std::vector<std::string> parameters = names;
    for (std::string& parameter : parameters) {
        std::size_t start = 0;
        for (const std::string_view prefix : tangent_prefixes)
            if (parameter.starts_with(prefix)) start = prefix.size();
        const std::string name = parameter.substr(start);
        if (!std::ranges::binary_search(python_keywords, std::string_view(name)) &&
            !std::ranges::binary_search(python_call_names, std::string_view(name)))
            continue;
        parameter.resize(start);
        parameter += underscored(
            name, [&](const std::string& other) { return std::ranges::find(names, other) != names.end(); });
    }
    return parameters;
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
