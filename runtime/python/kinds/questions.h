// What a call from Python asks of an argument's kind. Each kind answers in its own file of this folder.
#pragma once

#include <cstddef>
#include <variant>

#include "python/kinds/buffer.h"
#include "python/kinds/constant.h"
#include "python/kinds/generator.h"
#include "python/kinds/pointer.h"
#include "python/kinds/sampler.h"
#include "python/kinds/tensor.h"
#include "python/kinds/texture.h"
#include "python/kinds/value.h"
#include "python/kinds/whole_tensor.h"

namespace kf::python {

/// Returns what item `i` of the call is as an argument, made of what was given, if anything; no generator
/// was. Data that has to be on the device is copied there.
inline detail::Arg convert_item(CallItems& items, std::size_t i, const Context& context) {
    return std::visit([&](const auto& kind) { return convert_item(kind, items, i, context); },
                      items.leaf(i).kind);
}

/// Returns the gradient that a backward pass found for item `i`, as the kf.differentiable() that was given
/// takes it.
inline py::object gradient_of_item(CallItems& items, std::size_t i) {
    return std::visit([&](const auto& kind) { return gradient_of_item(kind, items, i); }, items.leaf(i).kind);
}

/// Returns what comes back for item `i`, which the call wrote; what was given is filled first.
inline py::object result_of_item(CallItems& items, std::size_t i, const ContextPtr& context) {
    return std::visit([&](const auto& kind) { return result_of_item(kind, items, i, context); },
                      items.leaf(i).kind);
}

}  // namespace kf::python
