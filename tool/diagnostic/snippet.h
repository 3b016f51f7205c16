// The source line of a diagnostic, with the place marked.
#pragma once

#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// "\n   12 |   "x": "tensr[1]"\n      |        ^~~~~~~~~~": the line of `source` that the location names,
/// with a caret below where it has a column, and waves to the end of the word or string there. Of long lines
/// a part. Nothing where there is no such line. Columns count code points in JSON, and bytes elsewhere.
std::string snippet(std::string_view source, const Location& location);

}  // namespace kf::gen
