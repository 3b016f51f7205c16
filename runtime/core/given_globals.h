// What is set of a function's globals, among the arguments of a call.
#pragma once

#include <kf/global_values.h>
#include <kf/invoke.h>

#include <span>

#include "core/manifest.h"

namespace kf::detail {

/// Gives what is set of globals as the items of `args` that a call has for them, but for those that are
/// given.
void give_globals(const GlobalValues& globals, const manifest::Call& call, std::span<Arg> args);

}  // namespace kf::detail
