// What to write for a function that the spec's modules only import.
#pragma once

#include <string>
#include <vector>

#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// Notes for a call whose function the spec's modules don't have: where one that they import does, or where
/// the name begins like one of a module's that isn't there. `begins_known`: with a name of theirs.
std::vector<std::string> module_notes(const CallSpec& call, const Module& module, bool begins_known);

}  // namespace kf::gen
