// Which NumPy arrays a call can't take without saying something untrue.
#pragma once

#include <span>
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

}  // namespace kf::python
