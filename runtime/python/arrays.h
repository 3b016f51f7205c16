// Which NumPy arrays a call can't take without saying something untrue.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "core/given.h"
#include "python/common.h"

namespace kf::python {

/// Kernels see every element: an array with a mask is refused, whatever the mask is.
void refuse_masked(py::handle array, const Where& where);
/// Returns whether it has no mask; else sets `why`.
bool is_unmasked(py::handle array, detail::Refusal* why);

/// Checks an array that a call writes to: it must not be read-only, nor may elements share memory.
void check_writable(const py::array& array, const Where& where);

/// Arrays that one call writes to, with their names, must not share memory.
void check_apart(std::span<const std::pair<Where, py::array>> written);

/// Answers NumPy's __array__(): make() copies what lies on the device. `type`: of what is asked, "kf.Tensor".
template <class Make>
py::object answer_array(const char* type, py::handle dtype, py::handle copy, Make make) {
    if (!copy.is_none() && !py::cast<bool>(copy)) {
        throw py::value_error("a " + std::string(type) +
                              " lies in device memory: NumPy can't see it without a copy");
    }
    py::array made = make();
    if (dtype.is_none()) return made;
    return made.attr("astype")(py::reinterpret_borrow<py::object>(dtype), py::arg("copy") = false);
}

}  // namespace kf::python
