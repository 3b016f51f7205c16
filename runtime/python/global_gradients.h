// Refuses globals that PyTorch would have to follow: gradients don't flow to them.
#pragma once

#include <string>

#include "python/globals.h"

namespace kf::python {

/// Throws ArgumentError (not_differentiable) for a global with a torch.Tensor in it that has a tangent or,
/// with `grad_enabled`, requires grad. `function`: its name, for the message.
void check_gradients(const std::string& function, const GlobalValues& globals, bool grad_enabled);

}  // namespace kf::python
