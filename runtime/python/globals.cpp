// Merges what is set of globals.
#include "python/globals.h"

#include <algorithm>

#include "core/join.h"
#include "core/python_names.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/own_copy.h"
#include "python/recursion.h"

namespace kf::python {
namespace {

std::string plain_text(py::handle name) { return std::string(utf8_of(py::str(name))); }

/// What to say of a name that is none of them: several may end with it.
std::string unknown(const std::string& name, const std::vector<py::object>& names) {
    std::vector<std::string> meant;
    for (const py::object& one : names) {
        if (std::string other = plain_text(one); other.ends_with("." + name))
            meant.push_back(std::move(other));
    }
    if (meant.size() > 1)
        return "the global '" + name + "' is one of " + join(meant, " and ") + ": name it so";
    return "no global '" + name + "'; it reaches " + (names.empty() ? "none" : join(names, plain_text));
}

/// Returns the one of `names` that `name` is: mostly the same object, or what Python calls it. Else null.
PyObject* known_name(const std::vector<py::object>& names, py::handle name) {
    for (const py::object& one : names) {
        if (one.is(name)) return one.ptr();
    }
    const py::str text(name);
    for (const py::object& one : names) {
        if (PyUnicode_Compare(one.ptr(), text.ptr()) == 0) return one.ptr();
    }
    std::vector<std::string> slang;
    for (const py::object& one : names) slang.push_back(plain_text(one));
    const std::vector<std::string> own = detail::python_parameters(slang);
    const auto found = std::ranges::find(own, plain_text(text));
    return found == own.end() ? nullptr : names[static_cast<std::size_t>(found - own.begin())].ptr();
}

/// Copies a dict, so that nobody changes what was set, with `given` in it. `copies`: lists and arrays, too.
py::object merged(const py::handle& known, const py::handle& given, bool copies) {
    if (PyDict_Check(given.ptr()) == 0)
        return copies ? own_copy(given) : py::reinterpret_borrow<py::object>(given);
    py::dict result;
    if (known && PyDict_Check(known.ptr()) != 0) {
        for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(known)) result[key] = value;
    }
    // A copy: hashing and comparing its keys may run code that changes it.
    const auto fields = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
    if (!fields) throw py::error_already_set();
    const RecursionGuard guard(" in a dict that is set of a global");
    for (const auto& [key, value] : fields) {
        const py::handle before = PyDict_GetItem(result.ptr(), key.ptr());
        result[key] = merged(before, value, copies);
    }
    return result;
}

/// The pairs of a GlobalValues while they are put together.
class Pairs {
public:
    Pairs(const GlobalValues& known, std::size_t more)
        : pairs_(py::reinterpret_steal<py::object>(
              PyTuple_New(static_cast<Py_ssize_t>(2 * (known.size() + more))))) {
        if (!pairs_) throw py::error_already_set();
        for (std::size_t i = 0; i < known.size(); ++i) {
            put(2 * i, known.name(i));
            put(2 * i + 1, known.value(i));
        }
        size_ = known.size();
    }

    void set(PyObject* name, py::handle value, bool copies) {
        std::size_t i = 0;
        while (i < size_ && get(2 * i) != name) ++i;
        const py::object kept = merged(i < size_ ? get(2 * i + 1) : nullptr, value, copies);
        if (i == size_) {
            put(2 * i, name);
            ++size_;
        }
        put(2 * i + 1, kept.ptr());
    }

    GlobalValues take() {
        const auto length = static_cast<Py_ssize_t>(2 * size_);
        if (length == 0) return {};
        PyObject* pairs = pairs_.release().ptr();
        if (length != PyTuple_GET_SIZE(pairs) && _PyTuple_Resize(&pairs, length) != 0)
            throw py::error_already_set();
        return GlobalValues(py::reinterpret_steal<py::object>(pairs));
    }

private:
    [[nodiscard]] PyObject* get(std::size_t i) const {
        return PyTuple_GET_ITEM(pairs_.ptr(), static_cast<Py_ssize_t>(i));
    }
    void put(std::size_t i, PyObject* value) {
        const py::object before = py::reinterpret_steal<py::object>(get(i));
        Py_INCREF(value);
        PyTuple_SET_ITEM(pairs_.ptr(), static_cast<Py_ssize_t>(i), value);
    }

    py::object pairs_;
    std::size_t size_ = 0;
};

}  // namespace

py::object interned(const std::string& text) {
    PyObject* made = PyUnicode_InternFromString(text.c_str());
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}

GlobalValues set_values(const std::string& function, const GlobalValues& known,
                        const std::vector<py::object>& names, const std::vector<py::object>& written,
                        py::handle given, const Keywords& named) {
    const bool has_dict = given && !given.is_none();
    if (has_dict && PyDict_Check(given.ptr()) == 0) {
        refuse(ErrorCode::type_mismatch, {function, "set"},
               "a dict of globals is needed, as in {\"tint\": 2}, not " + shown(given));
    }
    // A copy: comparing names and merging may run code that changes the caller's.
    const auto dict = has_dict ? py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr())) : py::object();
    if (has_dict && !dict) throw py::error_already_set();
    Pairs pairs(known, (has_dict ? py::len(dict) : 0) + named.size());
    const auto set = [&](py::handle key, py::handle value) {
        PyObject* const name = known_name(names, key);
        if (name == nullptr) refuse(ErrorCode::unknown_name, {function, {}}, unknown(plain_text(key), names));
        const auto is_it = [&](const py::object& one) { return one.ptr() == name; };
        pairs.set(name, value, std::ranges::none_of(written, is_it));
    };
    if (has_dict) {
        for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(dict)) set(key, value);
    }
    for (std::size_t i = 0; i < named.size(); ++i) set(named.name(i), named.values[i]);
    return pairs.take();
}

void bind_globals(py::module_& module) {
    module.def(
        "_named_globals",
        [](const std::string& owner, const std::vector<std::string>& names, const py::object& given) {
            std::vector<py::object> known;
            for (const std::string& name : names) known.push_back(interned(name));
            const GlobalValues values = set_values(owner, {}, known, known, given, {});
            py::dict named;
            for (std::size_t i = 0; i < values.size(); ++i)
                named[py::handle(values.name(i))] = py::handle(values.value(i));
            return named;
        },
        py::arg("owner"), py::arg("names"), py::arg("given"),
        "Returns what is given, itself, by the names that globals have in Slang.");
}

}  // namespace kf::python
