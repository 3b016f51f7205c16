// Describes the functions of loaded Slang modules as plain values.
#pragma once

#include <slang.h>

#include <vector>

#include "slang/module.h"

namespace kf::gen {

/// Fills `functions` and `dependencies`; the names are the caller's to fill. Slang's exceptions pass through.
[[nodiscard]] Module describe_modules(slang::ISession& session, const std::vector<slang::IModule*>& modules);

}  // namespace kf::gen
