// Makes a Spec from the text of NAME.kf.json, or finds every error in it.
#pragma once

#include <string_view>

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

/// `file` is the spec's path: errors name it and relative paths in the spec start at its folder.
/// Nothing is read from disk. Errors: the "spec-…" ids of docs/errors.md.
Outcome<Spec> parse_spec(std::string_view text, const std::string& file);

}  // namespace kf::gen
