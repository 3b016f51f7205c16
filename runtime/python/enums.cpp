// Looks members up by their names, and generated classes by the enum's.
#include "python/enums.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/enum_values.h"
#include "python/errors.h"

namespace kf::python {
namespace {

bool is_listed(py::handle value) { return PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0; }

std::string_view trimmed(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

py::object number_named(const std::string& text, const manifest::Argument& argument, detail::Refusal* why) {
    std::int64_t bits = 0;
    std::string_view rest = text;
    while (true) {
        const std::size_t bar = argument.flags ? rest.find('|') : std::string_view::npos;
        const std::string_view name = trimmed(rest.substr(0, bar));
        const auto member = std::ranges::find(argument.members, name,
                                              [](const auto& one) { return std::string_view(one.first); });
        if (member == argument.members.end()) {
            detail::refused(why, ErrorCode::unknown_name, [&] {
                return std::string(detail::enum_name(argument)) + " has no member '" + std::string(name) +
                       "': " + detail::members_text(argument);
            });
            return {};
        }
        bits |= member->second;
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
    }
    if (argument.element.scalar == ScalarType::uint64) return py::int_(static_cast<std::uint64_t>(bits));
    if (argument.element.scalar == ScalarType::uint32) return py::int_(static_cast<std::uint32_t>(bits));
    return py::int_(bits);
}

}  // namespace

bool has_names(py::handle value) {
    if (PyUnicode_Check(value.ptr()) || !is_listed(value)) return PyUnicode_Check(value.ptr()) != 0;
    for (const py::handle one : py::reinterpret_borrow<py::sequence>(value))
        if (has_names(one)) return true;
    return false;
}

py::object without_names(py::handle value, const manifest::Argument& argument, detail::Refusal* why) {
    if (PyUnicode_Check(value.ptr()) != 0) return number_named(std::string(utf8_of(value)), argument, why);
    if (!is_listed(value)) return py::reinterpret_borrow<py::object>(value);
    py::list list;
    for (const py::handle one : py::reinterpret_borrow<py::sequence>(value)) {
        const py::object number = without_names(one, argument, why);
        if (!number) return {};
        list.append(number);
    }
    return list;
}

py::object as_member(const manifest::Argument& argument, py::object number, const StructClasses& classes) {
    if (argument.members.empty() || !argument.element.extents.empty()) return number;
    const auto known = classes.find(std::string(detail::enum_name(argument)));
    if (known == classes.end()) return number;
    try {
        return known->second(number);
    } catch (const py::error_already_set& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        return number;
    }
}

}  // namespace kf::python
