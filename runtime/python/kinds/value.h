// Values in calls from Python: numbers, lists, arrays and structs.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
detail::Arg convert_item(const manifest::kinds::Value& value, CallItems& items, std::size_t i,
                         const Context& context);
py::object gradient_of_item(const manifest::kinds::Value& value, CallItems& items, std::size_t i);
py::object result_of_item(const manifest::kinds::Value& value, CallItems& items, std::size_t i,
                          const ContextPtr& context);

}  // namespace kf::python
