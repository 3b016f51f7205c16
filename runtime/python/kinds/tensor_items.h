// What both kinds of tensors have in common in calls from Python.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

/// Returns the tensor that is given for item `i`, or one that what is given is copied to.
detail::Arg convert_tensor(CallItems& items, std::size_t i, const Context& context);

/// Returns the gradient of the tensor that what was given was copied to, as an array.
py::object gradient_of_tensor(CallItems& items, std::size_t i);

/// Returns what was given, filled, or the tensor that the call made.
py::object result_of_tensor(CallItems& items, std::size_t i, const ContextPtr& context);

}  // namespace kf::python
