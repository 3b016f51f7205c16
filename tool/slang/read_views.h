// The views that functions only read.
#pragma once

#include <span>
#include <string>

#include "slang/module.h"

namespace kf::gen {

/// Notes in a module's functions the parameters whose views (TensorView, DiffTensorView) they only read, and
/// so does what they pass them on to. `codes`: the modules', as Slang prints them. What code does otherwise
/// with a view counts as writing, and so does all in derivatives of the user's own.
void note_read_views(Module& module, std::span<const std::string> codes);

}  // namespace kf::gen
