// Buffers in calls from Python.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
detail::Arg convert_item(const manifest::kinds::Buffer& buffer, CallItems& items, std::size_t i,
                         const Context& context);
inline py::object gradient_of_item(const manifest::kinds::Buffer&, CallItems&, std::size_t) {
    return py::none();
}
inline py::object result_of_item(const manifest::kinds::Buffer&, CallItems&, std::size_t, const ContextPtr&) {
    return py::none();
}

}  // namespace kf::python
