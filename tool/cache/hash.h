// One hash of several parts, for keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// SHA-256 in hexadecimal. Each part counts with its length: {"ab", "c"} and {"a", "bc"} differ.
std::string hash_parts(const std::vector<std::string_view>& parts);

}  // namespace kf::gen
