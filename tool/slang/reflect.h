// Describes the functions of loaded Slang modules as plain values.
#pragma once

#include <slang.h>

#include <vector>

#include "slang/module.h"
#include "slang/sources.h"

namespace kf::gen {

/// Fills all but the names, which are the caller's to fill. `sources` are what the session reads from.
/// Slang's exceptions pass through.
[[nodiscard]] Module describe_modules(slang::ISession& session, const std::vector<slang::IModule*>& modules,
                                      Sources& sources);

}  // namespace kf::gen
