// Tensors that are parameters in calls from Python.
#pragma once

#include <cstddef>

#include "python/kinds/tensor_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
inline detail::Arg convert_item(const manifest::kinds::WholeTensor&, CallItems& items, std::size_t i,
                                const Context& context) {
    return convert_tensor(items, i, context);
}
inline py::object gradient_of_item(const manifest::kinds::WholeTensor&, CallItems& items, std::size_t i) {
    return gradient_of_tensor(items, i);
}
inline py::object result_of_item(const manifest::kinds::WholeTensor&, CallItems& items, std::size_t i,
                                 const ContextPtr& context) {
    return result_of_tensor(items, i, context);
}

}  // namespace kf::python
