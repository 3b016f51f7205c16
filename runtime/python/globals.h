// Values of global parameters, as .set() of functions gives them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "python/common.h"

namespace kf::python {

struct Keywords;

/// Global parameters by name, and what they are set to. Immutable: copies share them.
class GlobalValues {
public:
    GlobalValues() = default;
    /// `pairs`: a tuple of a name, its value, the next name …; names are interned.
    explicit GlobalValues(py::object pairs) : pairs_(std::move(pairs)) {}

    [[nodiscard]] std::size_t size() const {
        return pairs_ ? static_cast<std::size_t>(PyTuple_GET_SIZE(pairs_.ptr())) / 2 : 0;
    }
    [[nodiscard]] PyObject* name(std::size_t i) const { return at(2 * i); }
    [[nodiscard]] PyObject* value(std::size_t i) const { return at(2 * i + 1); }
    /// Returns the value of an interned name; null where it isn't set.
    [[nodiscard]] PyObject* find(py::handle interned) const {
        for (std::size_t i = 0; i < size(); ++i) {
            if (name(i) == interned.ptr()) return value(i);
        }
        return nullptr;
    }

    int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(pairs_.ptr());
        return 0;
    }

private:
    [[nodiscard]] PyObject* at(std::size_t i) const {
        return PyTuple_GET_ITEM(pairs_.ptr(), static_cast<Py_ssize_t>(i));
    }

    py::object pairs_;  ///< null for none
};

/// Returns a string that is the same object wherever it is interned.
py::object interned(const std::string& text);

/// Returns `known` with the values of .set({...}) and .set(name=…): a dict for a struct that is set field by
/// field keeps the fields that it doesn't name. Lists and arrays are copied, but of those of `names` that are
/// `written`, since results are written into what is given. Refuses names that are none of `names`, which are
/// interned. `given`: null or None for none.
GlobalValues set_values(const std::string& function, const GlobalValues& known,
                        const std::vector<py::object>& names, const std::vector<py::object>& written,
                        py::handle given, const Keywords& named);

}  // namespace kf::python
