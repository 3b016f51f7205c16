// Writes the Slang module that gives link-time declarations their values.
#pragma once

#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "plan/link_time.h"

namespace kf::gen {

/// Returns no text where there are no values. `imports`: the modules that declare the types. `keeps`: what
/// run time chooses is left out; else it has its default.
Outcome<std::string> emit_values(const LinkTime& link, const std::vector<std::string>& imports,
                                 bool keeps = false);

}  // namespace kf::gen
