// Pushed gradients: one element for each call.
#pragma once

#include <kf/any_tensor.h>

#include <vector>

#include "core/manifest.h"

namespace kf::python {

/// Returns the shape of argument `pushed`'s gradient. `shapes`: all arguments', vectors' dimensions last.
Dims pushed_shape(const manifest::Call& call, const std::vector<std::pair<std::size_t, Dims>>& shapes,
                  const manifest::Argument& pushed);

/// Returns the tensor with a gradient of this shape: its own where that has it, else a new one of zeros.
AnyTensor with_pushed(const AnyTensor& tensor, const Dims& shape);

}  // namespace kf::python
