// The names of textures' formats in specs and in Slang sources.
#pragma once

#include <optional>
#include <string>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Error "texture-format" where textures can't have a format of that name.
[[nodiscard]] std::optional<Diagnostic> check_format(const std::string& name, const Location& location);

}  // namespace kf::gen
