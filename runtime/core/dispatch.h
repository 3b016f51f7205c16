// What both drivers check of a dispatch before they run it.
#pragma once

#include <string>

#include "core/driver.h"

namespace kf::driver {

[[nodiscard]] inline bool is_empty(const Grid& groups) {
    return groups[0] == 0 || groups[1] == 0 || groups[2] == 0;
}

[[noreturn]] void fail_grid(const Info& info, const std::string& kernel, const Grid& groups);

/// Throws kf::ArgumentError (value_range), naming the dimension, where the device can't run so many groups. A
/// grid without groups is always fine.
inline void check_grid(const Info& info, const std::string& kernel, const Grid& groups) {
    const Grid& most = info.max_groups;
    if ((groups[0] > most[0] || groups[1] > most[1] || groups[2] > most[2]) && !is_empty(groups)) {
        fail_grid(info, kernel, groups);
    }
}

/// "3 x 4 x 5", or "3" where y and z are 1.
[[nodiscard]] std::string to_string(const Grid& groups);

}  // namespace kf::driver
