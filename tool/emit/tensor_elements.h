// Functions of the elements of tensors that kernels hand to the function.
#pragma once

#include <string>

#include "emit/kernel.h"

namespace kf::gen {

/// The functions that kf.slang calls for them; empty where the call has no such tensors.
Outcome<std::string> tensor_element_functions(const PlannedCall& call, PassKind pass, Sums sums);

}  // namespace kf::gen
