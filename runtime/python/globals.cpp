// Merges what is set of globals.
#include "python/globals.h"

#include <algorithm>

#include "core/parameter_tree.h"
#include "python/errors.h"

namespace kf::python {
namespace {

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "it reaches none" : "it reaches " + text;
}

/// What to say of a name that is none of them: several may end with it.
std::string unknown(const std::string& name, const std::vector<std::string>& names) {
    std::string meant;
    std::size_t count = 0;
    for (const std::string& other : names) {
        if (!other.ends_with("." + name)) continue;
        meant += (meant.empty() ? "" : " and ") + other;
        ++count;
    }
    return count > 1 ? "the global '" + name + "' is one of " + meant + ": name it so"
                     : "no global '" + name + "'; " + list_of(names);
}

/// Copies a dict, so that nobody changes what was set, with `given` in it.
py::object merged(const py::handle& known, const py::handle& given) {
    if (PyDict_Check(given.ptr()) == 0) return py::reinterpret_borrow<py::object>(given);
    py::dict result;
    if (known && PyDict_Check(known.ptr()) != 0) {
        for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(known)) result[key] = value;
    }
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(given)) {
        const py::handle before = PyDict_GetItem(result.ptr(), key.ptr());
        result[key] = merged(before, value);
    }
    return result;
}

}  // namespace

GlobalValues set_values(const std::string& function, const GlobalValues& known,
                        const std::vector<std::string>& names, const py::object& given,
                        const py::kwargs& named) {
    GlobalValues values;
    if (known) {
        for (const auto& [key, value] : known) values[key] = value;
    }
    const auto add = [&](const py::dict& more) {
        for (const auto& [key, value] : more) {
            const std::string name = py::str(key);
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                refuse(ErrorCode::unknown_name, {function, {}}, unknown(name, names));
            }
            const py::handle before = PyDict_GetItem(values.ptr(), key.ptr());
            values[key] = merged(before, value);
        }
    };
    if (!given.is_none()) {
        if (!py::isinstance<py::dict>(given)) {
            refuse(ErrorCode::type_mismatch, {function, "set"},
                   "a dict of globals is needed, as in {\"tint\": 2}, not " + shown(given));
        }
        add(py::reinterpret_borrow<py::dict>(given));
    }
    add(named);
    return values;
}

py::dict keywords_of(const GlobalValues& values, const std::vector<std::string>& names) {
    py::dict keywords;
    if (!values) return keywords;
    for (const auto& [key, value] : values) {
        const std::string name = py::str(key);
        if (std::find(names.begin(), names.end(), name) != names.end())
            keywords[py::str(manifest::global_name(name))] = value;
    }
    return keywords;
}

}  // namespace kf::python
