// Slang's machine-readable diagnostics, as ours.
#pragma once

#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// The errors in what Slang printed, in order, each with the id "slang-E30015" and the like; Slang's
/// notes become notes. Slang's own closing remarks ("import failed", "compilation ceased") are left out
/// when an error with a place came before them. Text that is not in Slang's format (an assertion, say)
/// becomes one "slang-internal".
[[nodiscard]] Diagnostics parse_slang_diagnostics(std::string_view text);

/// The warnings in what Slang printed, each once, with ids and notes as errors have them.
[[nodiscard]] Diagnostics parse_slang_warnings(std::string_view text);

}  // namespace kf::gen
