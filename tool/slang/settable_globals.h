// The global parameters that kernels can set.
#pragma once

#include <vector>

#include "slang/module.h"
#include "slang/session.h"
#include "slang/sources.h"

namespace kf::gen {

/// Describes those of the session's files and of all that these import, in the order loaded. `sources` are
/// what the session reads from. Slang's exceptions pass through.
[[nodiscard]] std::vector<GlobalParameter> settable_globals(const Session& session, Sources& sources);

}  // namespace kf::gen
