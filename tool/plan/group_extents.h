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

/// Computes what `[numthreads(taps * 2, 1, 1)]` says of a function when linked so. `text`: as
/// Function::group_text. Nothing where one of the extents is something else than a product, or a name's value
/// isn't known here.
[[nodiscard]] std::optional<manifest::GroupExtents> group_extents(const std::vector<std::string>& text,
                                                                  const std::string& function,
                                                                  const LinkTime& link);

/// Whether run time chooses one of the extents.
[[nodiscard]] bool is_chosen(const manifest::GroupExtents& extents);

/// A group as linking decides it.
struct LinkedGroup {
    std::array<std::int64_t, 3> size{};  ///< threads, x first; with the default values of what is kept
    manifest::GroupExtents extents;      ///< what run time computes the size by; empty where that is settled
};

/// Computes the group that group_extents() gives extents of, if it does.
[[nodiscard]] std::optional<LinkedGroup> linked_group(const std::vector<std::string>& text,
                                                      const std::string& function, const LinkTime& link);

}  // namespace kf::gen
