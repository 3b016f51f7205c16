// Where modules declare the globals that functions reach.
#pragma once

#include <slang.h>

#include <vector>

#include "slang/reached.h"
#include "slang/sources.h"

namespace kf::gen {

/// Adds to what the linked `program` reaches where it is declared, and quotes the source that uses it. Files
/// get the paths that the session's modules were loaded from. Slang's exceptions pass through.
void place_reached(slang::ISession& session, slang::IComponentType& program, Sources& sources,
                   std::vector<Reached>& reached);

}  // namespace kf::gen
