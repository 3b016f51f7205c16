// Group sizes that are products of numbers and constants.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run_time_constant.h"
#include "plan/link_time.h"

namespace kf::gen {

/// What `[numthreads(taps * 2, 1, 1)]` says of a function when linked so. `text`: as Function::group_text.
/// Nothing where one of the extents is something else than a product, or a name's value isn't known here.
[[nodiscard]] std::optional<manifest::GroupExtents> group_extents(const std::vector<std::string>& text,
                                                                  const std::string& function,
                                                                  const LinkTime& link);

/// Whether run time chooses some of it.
[[nodiscard]] bool is_chosen(const manifest::GroupExtents& extents);

/// The threads of such a group, x first, with these values of LinkTime::kept().
[[nodiscard]] std::array<std::int64_t, 3> size_with(const manifest::GroupExtents& extents,
                                                    const std::vector<std::string>& values);

}  // namespace kf::gen
