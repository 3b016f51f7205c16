// The generated Python: NAME.py, which loads NAME.kfa beside it, and its typed stub NAME.pyi.
#pragma once

#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

struct PythonFiles {
    std::string module;
    std::string stub;
    /// The module's names for the plan's functions, in their order: "Ray.at"; empty: hidden ones.
    std::vector<std::string> functions = {};
};

/// How a planned call looks in Python, as kernelfunctions.Function takes it:
/// - `f(arguments..., out=None)`: parameters in order, by place or by name; out parameters may be left out,
/// or
///   be tensors and arrays to write, and so may `out`, a tensor result.
/// - It returns the result, then out and inout values in parameter order: one as it is, several as a named
///   tuple whose fields are `result` and the parameters' names.
/// - `f.backward(arguments..., out=None)`: the same, with the result by place or by name; gradients of
/// outputs
///   flow in.
/// - `append_to(encoder, ...)`: for calls whose outputs are tensors.
///
/// In the stub, overloads that a type checker can't tell apart are one, with a union for what differs.
Outcome<PythonFiles> emit_python(const Plan& plan);

}  // namespace kf::gen
