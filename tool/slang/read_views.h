// The views that functions only read.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "slang/module.h"

namespace kf::gen {

/// Finds in some modules' codes, as Slang prints them, the parameters whose views (TensorView,
/// DiffTensorView) the functions only read, and what these pass them on to: by functions' and parameters'
/// names. What code does otherwise with a view counts as writing, and so does all in derivatives of the
/// user's own.
std::map<std::string, std::set<std::string>> read_views(std::span<const std::string> codes);

/// Notes them in a module's functions.
void note_read_views(Module& module, const std::map<std::string, std::set<std::string>>& read);

}  // namespace kf::gen
