// Enums whose members are combined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// Appends the names of the text's enums that have the attribute [Flags], without the namespaces around.
/// Slang reflects no attributes of enums.
void find_flag_enums(std::string_view text, std::vector<std::string>& names);

}  // namespace kf::gen
