// What can be said of arguments by their number and names alone.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "python/common.h"
#include "python/function.h"

namespace kf::python {

/// np.ndarray or "numpy", where an output could be given.
bool asks_for_array(py::handle value);

/// "a, b, out", for messages.
std::string parameter_list(const FunctionInfo& info);
/// The same of these parameters.
std::string parameter_list(const FunctionInfo& info, const std::vector<std::size_t>& which);

/// Where `value` is the named tuple of several results that a function like this returned: how to pass its
/// fields, "y=results.y, out=results.result". Else empty.
std::string fields_of_results(const FunctionInfo& info, py::handle value);

/// Tells whether an overload with these parameters has kernels for the pass.
bool has_pass(const FunctionInfo& info, detail::PassKind pass);

/// Whether the arguments could be those of `info`; then, how many are left out.
std::optional<std::size_t> left_out(const FunctionInfo& info, detail::PassKind pass,
                                    const py::tuple& arguments, const py::dict& keywords);

}  // namespace kf::python
