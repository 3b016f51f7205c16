// The enums that a plan's calls take or give: each is a class on the host.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// An enum of the plan; `members` have the values that its type keeps, whatever sign Slang reports.
struct UsedEnum {
    std::string name;  ///< in Slang: "ns.Color"
    ScalarType scalar = ScalarType::int32;
    bool flags = false;  ///< members may be combined
    std::vector<std::pair<std::string, std::int64_t>> members;
};

/// The enum's name in Slang that host values of the type are, or are arrays of; empty: none.
std::string host_enum(const Type& type);

/// Returns the enums of the plan, each once. `host_structs`: also those of fields of the user's own structs.
std::vector<UsedEnum> used_enums(const Plan& plan, bool host_structs);

/// A member's value as both languages write it, but for what C++ needs of its type.
std::string value_text(const UsedEnum& used, std::int64_t value);

}  // namespace kf::gen
