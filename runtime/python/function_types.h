// kf.Function, kf.Backward, kf.Fused and kf.Jvp: the Python classes of what is called.
#pragma once

#include "python/configured_function.h"

namespace kf::python {

/// Returns a new kf.Function.
py::object make_function(const Function& function);

/// Returns the function of a kf.Function, for as long as that lives; null of anything else.
const Function* held_function(py::handle object);

/// The same, or throws of anything else.
const Function& function_given(py::handle object);

/// The same of a kf.Backward.
const Function* held_backward(py::handle object);

/// Returns a new kf.UnlaunchedCall, which waits for launchRaw().
py::object make_unlaunched(const Function& function, detail::PassKind pass, const Arguments& arguments);

}  // namespace kf::python
