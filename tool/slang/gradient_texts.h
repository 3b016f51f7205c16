// Modules' texts as Slang must read them for right gradients.
#pragma once

#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"
#include "slang/workarounds/workarounds.h"

namespace kf::gen {

/// Returns `text`, a Slang module, with these ways round Slang's faults. Lines stay as they were, and columns
/// but behind the steps of loops that start at a run-time value.
[[nodiscard]] std::string keep_gradients(std::string_view text, const Workarounds& workarounds);

/// Returns a warning for each error for which modules were compiled without these.
[[nodiscard]] Diagnostics unprotected_warnings(const Diagnostics& refused);

}  // namespace kf::gen
