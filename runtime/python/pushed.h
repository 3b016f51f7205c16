// Gradients that are pushed: one for each call.
#pragma once

#include <kf/any_tensor.h>

#include <vector>

#include "core/manifest.h"

namespace kf::python {

/// The shape of argument `pushed`'s gradient; `shapes`: of all of the call's, vectors' dimensions last.
Dims pushed_shape(const manifest::Call& call, const std::vector<std::pair<std::size_t, Dims>>& shapes,
                  const manifest::Argument& pushed);

/// The tensor with a gradient of this shape: its own where that has it, else a new one of zeros.
AnyTensor with_pushed(const AnyTensor& tensor, const Dims& shape);

}  // namespace kf::python
