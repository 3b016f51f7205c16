// The values that scalar types hold, in words.
#pragma once

#include <kf/types.h>

#include <string>

namespace kf::detail {

/// "-128 to 127"
[[nodiscard]] std::string range_text(ScalarType scalar);

}  // namespace kf::detail
