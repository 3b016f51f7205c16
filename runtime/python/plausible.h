// Which overloads are worth a try: told apart by what the arguments are, before anything in them is read.
#pragma once

#include <vector>

#include "python/function.h"

namespace kf::python {

/// False where overload `call` surely doesn't take what is `given`, one object a parameter (null: not given):
/// a tensor where a struct comes by value or field by field, a number where a tensor is needed, and the like.
bool is_plausible(const FunctionInfo& info, std::size_t call, const std::vector<py::object>& given);

}  // namespace kf::python
