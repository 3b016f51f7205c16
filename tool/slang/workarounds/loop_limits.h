// A check of what Slang doesn't: loops that run more often than their [MaxIters].
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang differentiates such a loop wrongly, and says nothing. One whose numbers the text shows is an error
/// of kfgen's (excessive_loops()); for others the text gets a static_assert: see assert_loop_limits().
extern const Workaround loop_limits;

}  // namespace kf::gen
