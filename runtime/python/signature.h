// What inspect.signature() and repr() say of functions.
#pragma once

#include "python/function.h"

namespace kf::python {

/// Returns an inspect.Signature whose annotations are the types as messages show them; of overloads with
/// different parameters (*args, **kwargs). `tangents`: of a forward derivative.
py::object signature_of(const FunctionInfo& info, detail::PassKind pass, bool tangents);

/// Returns "add(a: int, b: int) -> int", and how many overloads more there are.
std::string signature_text(const FunctionInfo& info);

}  // namespace kf::python
