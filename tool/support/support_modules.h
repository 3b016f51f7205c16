// The Slang modules that kfgen carries with it.
#pragma once

#include <vector>

#include "slang/support_module.h"

namespace kf::gen {

/// Returns the modules that generated kernels and users' own modules may import beside files; a module stands
/// behind those that it imports.
std::vector<SupportModule> support_modules();

}  // namespace kf::gen
