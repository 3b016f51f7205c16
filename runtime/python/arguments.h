// The arguments of a call, as Python's vectorcall protocol passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "python/common.h"
#include "python/globals.h"

namespace kf::python {

/// The keywords of a call, in the order in which they were given. Borrowed.
struct Keywords {
    PyObject* names = nullptr;  ///< a tuple of strings; null for none
    PyObject* const* values = nullptr;

    [[nodiscard]] std::size_t size() const {
        return names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
    }
    [[nodiscard]] PyObject* name(std::size_t i) const {
        return PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i));
    }
    [[nodiscard]] std::string_view text(std::size_t i) const { return utf8_of(name(i)); }
    [[nodiscard]] bool contains(std::string_view name) const {
        for (std::size_t i = 0; i < size(); ++i) {
            if (text(i) == name) return true;
        }
        return false;
    }
};

/// What an output that isn't given comes back as.
enum class ResultForm : std::uint8_t {
    usual,   ///< as PyTorch has it, where some argument is its tensor; else a kf.Tensor, or a value
    array,   ///< a NumPy array
    tensor,  ///< a kf.Tensor
    torch,   ///< a torch.Tensor
};

/// All that a call is given. Borrowed from its caller, for as long as it runs.
struct Arguments {
    std::span<PyObject* const> positional;
    Keywords keywords;
    GlobalValues globals;                    ///< that were set before
    ResultForm results = ResultForm::usual;  ///< what return_type() said

    /// `count`: of positional arguments, as the protocol has it; the keywords' values follow these.
    static Arguments passed(PyObject* const* values, std::size_t count, PyObject* names) {
        const auto places = static_cast<std::size_t>(PyVectorcall_NARGS(count));
        return {{values, places}, {names, values + places}, {}, ResultForm::usual};
    }
};

/// All that a call is given, kept for later: it owns its objects.
class KeptArguments {
public:
    explicit KeptArguments(const Arguments& given)
        : values_(given.positional.size() + given.keywords.size()),
          names_(py::reinterpret_borrow<py::object>(given.keywords.names)),
          places_(given.positional.size()) {
        for (std::size_t i = 0; i < places_; ++i) keep(i, given.positional[i]);
        for (std::size_t i = 0; i < given.keywords.size(); ++i) keep(places_ + i, given.keywords.values[i]);
    }
    KeptArguments(const py::tuple& positional, const py::dict& keywords)
        : values_(positional.size() + keywords.size()),
          names_(py::tuple(keywords)),
          places_(positional.size()) {
        for (std::size_t i = 0; i < places_; ++i) keep(i, positional[i].ptr());
        std::size_t next = places_;
        for (const auto& [name, value] : keywords) keep(next++, value.ptr());
    }
    /// Null once it is moved from.
    explicit operator bool() const { return static_cast<bool>(values_); }
    [[nodiscard]] Arguments view() const {
        return Arguments::passed(PySequence_Fast_ITEMS(values_.ptr()), places_, names_.ptr());
    }
    int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(values_.ptr());
        return 0;
    }

private:
    void keep(std::size_t i, PyObject* value) { values_[i] = py::reinterpret_borrow<py::object>(value); }

    py::tuple values_;  ///< positional ones, then those of keywords
    py::object names_;  ///< a tuple; null for none
    std::size_t places_ = 0;
};

}  // namespace kf::python
