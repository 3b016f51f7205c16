// Forward derivatives that Slang takes for zero, without a word.
#pragma once

#include <map>
#include <span>
#include <string>

#include "slang/module.h"

namespace kf::gen {

/// Finds the functions of some modules' codes, as Slang prints them, that call a function which has a
/// backward derivative and no forward one, by themselves or through what they call: in the forward
/// derivative, such a call gives 0, and so does its tangent. Returns the name of the called function, by the
/// caller's name.
std::map<std::string, std::string> lost_tangents(std::span<const std::string> codes);

/// Notes them in a module's functions, but for those whose forward derivative is written by hand.
void note_lost_tangents(Module& module, const std::map<std::string, std::string>& lost);

}  // namespace kf::gen
