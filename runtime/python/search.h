// Looks for a value in what a call is given: in structs and lists in each other.
#pragma once

#include <functional>
#include <vector>

#include "python/common.h"

namespace kf::python {

/// Whether `is_it` holds for the value, or for some value in it. A list of numbers is passed over, as it may
/// be long. `fields`: the names of what objects of classes are asked for; null for all attributes, where of a
/// list the first item stands for all.
bool contains(py::handle value, const std::function<bool(py::handle)>& is_it,
              const std::vector<py::object>* fields = nullptr);

}  // namespace kf::python
