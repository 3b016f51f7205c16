// Names of parameters, in messages and among a call's arguments.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "python/common.h"
#include "python/function.h"

namespace kf::python {

/// What `value` asks for in an output's place: kf.Tensor or "tensor", np.ndarray or "numpy", torch.Tensor or
/// "torch". ResultForm::usual for anything else, such as what is written to.
ResultForm asked_form(py::handle value);

/// Returns "a, b, out", for messages.
std::string parameter_list(const FunctionInfo& info);
/// Returns the same for these parameters only.
std::string parameter_list(const FunctionInfo& info, const std::vector<std::size_t>& which);

/// Returns how to pass the fields of `value`, "y=results.y, out=results.result", if it is the named tuple of
/// several results that a function like this returned. Else empty.
std::string fields_of_results(const FunctionInfo& info, py::handle value);

/// Tells whether an overload with these parameters has kernels for the pass.
bool has_pass(const FunctionInfo& info, detail::PassKind pass);

}  // namespace kf::python
