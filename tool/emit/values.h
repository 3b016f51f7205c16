// Writes the Slang module that gives link-time declarations their values.
#pragma once

#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/link_time.h"

namespace kf::gen {

/// Nothing where there are no values. `imports`: the modules that declare the types.
Outcome<std::string> emit_values(const LinkTime& link, const std::vector<std::string>& imports);

}  // namespace kf::gen
