// Refuses globals that PyTorch would have to follow: gradients don't flow to them.
#pragma once

#include "python/function.h"

namespace kf::python {

/// Throws ArgumentError (not_differentiable) for one of a function's globals with a torch.Tensor in it that
/// has a tangent or, with `grad_enabled`, requires grad.
void check_gradients(const FunctionInfo& function, const GlobalValues& globals, bool grad_enabled);

/// Returns the torch.Tensors in a function's globals, as a tuple.
py::tuple tensors_in(const FunctionInfo& function, const GlobalValues& globals);

}  // namespace kf::python
