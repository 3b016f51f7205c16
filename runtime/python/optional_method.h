// What a class has as an attribute that may be None, and that says why when it is called all the same.
#pragma once

#include "python/common.h"

namespace kf::python {

/// Returns a descriptor: `x.name` is what `property` gives, and `x.name(...)` is `method(x, ...)`. Python has
/// a call look at the descriptor itself, for which its type says that it is one of methods
/// (Py_TPFLAGS_METHOD_DESCRIPTOR), so that the second can raise an error where the first is None.
py::object make_optional_method(py::handle property, py::handle method);

}  // namespace kf::python
