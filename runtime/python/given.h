// What can be said of arguments by their number and names alone.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "python/common.h"
#include "python/function.h"

namespace kf::python {

/// np.ndarray or "numpy", where an output could be given.
bool asks_for_array(py::handle value);

/// "a, b, out", for messages.
std::string parameter_list(const FunctionInfo& info);

/// Whether the arguments could be those of `info`; then, how many are left out.
std::optional<std::size_t> left_out(const FunctionInfo& info, detail::PassKind pass,
                                    const py::tuple& arguments, const py::dict& keywords);

}  // namespace kf::python
