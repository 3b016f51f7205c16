// A way round vectors that Slang's optimiser folds into what isn't SPIR-V.
#pragma once

#include <string>

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's optimiser folds some vectors into `OpConstant %v3float 0`, which isn't SPIR-V: drivers refuse it,
/// or crash.
extern const Workaround folded_vectors;

/// Makes OpConstantNull of these, which they mean. False where there is another number.
[[nodiscard]] bool repair_null_vectors(std::string& code);

}  // namespace kf::gen
