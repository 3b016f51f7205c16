// Tells which modules calls can name, and what functions those have.
#pragma once

#include <string>
#include <vector>

#include "slang/entry_points.h"
#include "slang/module.h"
#include "slang/session.h"
#include "slang/sources.h"

namespace kf::gen {

/// Fills `module.modules` with the session's, and adds what is written of structs in those that `functions`
/// name: "geo.util.f" names "geo.util" and "geo". Slang's exceptions pass through.
void add_named_modules(const Session& session, const std::vector<std::string>& functions, Sources& sources,
                       const std::vector<MacroEntry>& entries, Module& module);

}  // namespace kf::gen
