// Describes the functions of loaded Slang modules as plain values.
#pragma once

#include <slang.h>

#include <map>
#include <string>
#include <vector>

#include "slang/entry_points.h"
#include "slang/module.h"
#include "slang/sources.h"

namespace kf::gen {

/// Fills all but the names, which are the caller's to fill. `sources` are what the session reads from;
/// `sizes`: see TypeDescriber; `entries`: those in the modules. Slang's exceptions pass through.
[[nodiscard]] Module describe_modules(slang::ISession& session, const std::vector<slang::IModule*>& modules,
                                      Sources& sources, slang::ProgramLayout* sizes,
                                      const std::vector<MacroEntry>& entries);

/// Adds the files that the modules were read from, by their absolute paths.
void add_sources(const std::vector<slang::IModule*>& modules, Sources& sources,
                 std::map<std::string, std::string>& texts);

}  // namespace kf::gen
