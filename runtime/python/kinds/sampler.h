// Samplers in calls from Python.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

// The answers to kinds/questions.h.
inline detail::Arg convert_item(const manifest::kinds::Sampler&, CallItems& items, std::size_t i,
                                const Context&) {
    const Host& host = items.host(i);
    if (host.sampler == nullptr) return detail::Arg::none();
    detail::Arg arg;
    arg.kind = detail::Arg::Kind::sampler;
    arg.sampler = host.sampler;
    return arg;
}
inline py::object gradient_of_item(const manifest::kinds::Sampler&, CallItems&, std::size_t) {
    return py::none();
}
inline py::object result_of_item(const manifest::kinds::Sampler&, CallItems&, std::size_t,
                                 const ContextPtr&) {
    return py::none();
}

}  // namespace kf::python
