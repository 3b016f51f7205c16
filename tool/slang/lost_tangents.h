// Forward derivatives that Slang takes for zero, without a word.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "slang/module.h"
#include "slang/slang_version.h"

namespace kf::gen {

/// Finds the functions of some modules' codes, as Slang prints them, whose forward derivatives take 0 for the
/// value of a call and for its tangent: those that call a function which has a backward derivative and no
/// forward one, or is marked [TreatAsDifferentiable], by themselves or through what they call; and what is
/// marked so itself. By their names.
std::map<std::string, LostTangent> lost_tangents(std::span<const std::string> codes);

/// Notes them in a module's functions, but for those whose forward derivative is written by hand.
void note_lost_tangents(Module& module, const std::map<std::string, LostTangent>& lost);

/// "lost-tangent" at each `fwd_diff(f)` of the module's own texts where `f` is such a function. Slang 2026.14
/// gives what is marked [TreatAsDifferentiable] its value, and the tangent 0 is what the attribute means.
Diagnostics lost_tangent_uses(const Module& module, const std::optional<SlangVersion>& version);

}  // namespace kf::gen
