// The way round fmod(), which gives its second argument no gradient.
#pragma once

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Gives modules with differentiable functions an fmod() of their own, with its derivatives, and those with
/// macros that name fmod(), which differentiable functions of others may use. Files that declare a function
/// or macro of that name keep it, and so do members.
extern const Workaround remainders;

}  // namespace kf::gen
