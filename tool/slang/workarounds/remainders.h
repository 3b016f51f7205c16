// The way round fmod(), which gives its second argument no gradient.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Gives modules with differentiable functions an fmod() of their own, with its derivatives. Modules that
/// declare a function of that name keep it, and so do members, and calls that macros write.
extern const Workaround remainders;

}  // namespace kf::gen
