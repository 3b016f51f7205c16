// Where modules declare the globals that functions reach.
#pragma once

#include <slang.h>

#include <vector>

#include "slang/reached.h"
#include "slang/sources.h"

namespace kf::gen {

/// Adds to what a program of the session reaches where it is declared, and quotes the source that uses it.
/// Files get the paths that the session's modules were loaded from. A parameter that may be one of several is
/// there once for each. Slang's exceptions pass through.
void place_reached(slang::ISession& session, Sources& sources, std::vector<Reached>& reached);

}  // namespace kf::gen
