// Hints for a function that the spec's modules only import.
#pragma once

#include <string>
#include <vector>

#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// Returns notes for a call whose function the spec's modules don't have: which imported module has it, or
/// that its name begins with no module or namespace of theirs. `begins_known`: with one it does.
std::vector<std::string> module_notes(const CallSpec& call, const Module& module, bool begins_known);

}  // namespace kf::gen
