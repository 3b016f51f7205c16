// The overloads worth a try, by the arguments' types alone: nothing in the arguments is read.
#pragma once

#include <span>

#include "python/function.h"

namespace kf::python {

/// Returns false where overload `call` can't accept the arguments, one object a parameter (null: left out):
/// a tensor where a struct comes by value or field by field, a number where a tensor is needed, and the like.
bool may_accept(const FunctionInfo& info, std::size_t call, std::span<const py::object> arguments);

}  // namespace kf::python
