// Looks for a value in what a call is given: in structs and lists in each other.
#pragma once

#include <functional>

#include "python/common.h"

namespace kf::python {

/// How deep structs and lists are looked into.
inline constexpr int deepest = 8;

/// Whether `is_it` holds for the value, or for some value in it. A list of numbers is passed over, as it may
/// be long.
bool contains(py::handle value, const std::function<bool(py::handle)>& is_it, int depth = deepest);

}  // namespace kf::python
