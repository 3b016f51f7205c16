// Plans made by hand, as the planner makes them, for the tests of the emitters.
#pragma once

#include "plan/plan.h"

namespace kf::gen::testing {

/// One argument; the helpers below change what differs from this: a float value that goes in.
PlannedArgument value(const std::string& name, ScalarType scalar = ScalarType::float32,
                      std::vector<std::int64_t> extents = {});
/// A tensor of scalars that feeds a call of `call_rank` dimensions, with `trailing` extents behind them.
PlannedArgument tensor(const std::string& name, std::int64_t call_rank,
                       ScalarType scalar = ScalarType::float32, std::vector<std::int64_t> trailing = {});
/// A tensor of vectors.
PlannedArgument vector_tensor(const std::string& name, std::int64_t call_rank, std::int64_t length,
                              ScalarType scalar = ScalarType::float32);
PlannedArgument with_role(PlannedArgument argument, manifest::Role role);
PlannedArgument differentiable(PlannedArgument argument);
PlannedArgument at(PlannedArgument argument, std::int64_t line, std::int64_t column);

/// Sets a call's trees: each argument is one, a leaf.
void set_leaves(PlannedCall& call);

/// A call over those arguments; has a backward pass when one of its inputs is differentiable.
PlannedCall call(std::int64_t rank, std::vector<PlannedArgument> arguments);

Plan plan(const std::string& name, std::vector<PlannedFunction> functions);

/// polynomial(a, b, c, x) with x a value, a vector or a matrix.
Plan polynomial();
/// What the polynomial doesn't have: out and inout parameters, every scalar, vectors, names that are
/// keywords, functions without gradients or without a result.
Plan everything();

}  // namespace kf::gen::testing
