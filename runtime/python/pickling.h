// What pickle and copy make of the extension's objects.
#pragma once

#include "python/common.h"
#include "python/configured_function.h"
#include "python/tensor.h"

namespace kf::python {

/// Refuses to pickle objects of the module's classes, by whatever protocol, unless they say how: of protocols
/// 0 and 1, object's own way makes an object of pybind11's base class, which ends the process.
void refuse_pickling(py::module_& module);

/// Returns what a kf.Function's __reduce__() does: the generated module's import name, the function's name
/// there and how it is configured. `attributes`: a dict of its own ones, or null. Throws TypeError for hooks,
/// and for functions of a module whose import name isn't known.
py::tuple pickled(const Function& function, py::handle attributes);

/// The same of one of its passes: "backward", "fused", "jvp".
py::tuple pickled_pass(const Function& function, const char* pass);

/// Returns what a kf.Tensor's __reduce__() does: its elements and gradients as arrays, its name, and its
/// device's id. Waits for what writes them.
py::tuple pickled(const Tensor& tensor);

/// Throws TypeError for an object of a class derived from kf.Tensor, which copies wouldn't have.
const Tensor& of_own_class(const py::object& tensor);

/// A copy on the same device, of the gradients too: what copy.deepcopy() makes.
Tensor deep_copy(const Tensor& tensor);

}  // namespace kf::python
