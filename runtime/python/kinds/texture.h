// Textures in calls from Python.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
inline detail::Arg convert_item(const manifest::kinds::Texture&, CallItems&, std::size_t, const Context&) {
    return detail::Arg::none();
}
inline py::object gradient_of_item(const manifest::kinds::Texture&, CallItems&, std::size_t) {
    return py::none();
}
inline py::object result_of_item(const manifest::kinds::Texture&, CallItems&, std::size_t,
                                 const ContextPtr&) {
    return py::none();
}

}  // namespace kf::python
