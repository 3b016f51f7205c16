// Textures in calls from Python.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
detail::Arg convert_item(const manifest::kinds::Texture& texture, CallItems& items, std::size_t i,
                         const Context& context);
inline py::object gradient_of_item(const manifest::kinds::Texture&, CallItems&, std::size_t) {
    return py::none();
}
py::object result_of_item(const manifest::kinds::Texture& texture, CallItems& items, std::size_t i,
                          const ContextPtr& context);

}  // namespace kf::python
