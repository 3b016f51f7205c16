// The generated tests of a spec's functions in PyTorch: NAME_torch_test.py.
#pragma once

#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// A class for each call that PyTorch's tensors can be given to; kernelfunctions.torch.testing has its tests.
/// It says what arguments the call takes, and which tests it has, by its bases. `functions`: what NAME.py
/// calls the plan's functions, in their order.
Outcome<std::string> emit_torch_test(const Plan& plan, const std::vector<std::string>& functions);

}  // namespace kf::gen
