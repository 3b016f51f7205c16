// Which integers are values of an enum: what the host passes for one is checked.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/manifest.h"

namespace kf::detail {

/// Returns the values that check_enum_values() looks at.
[[nodiscard]] std::vector<manifest::EnumValue> enum_values(const manifest::Call& call);

/// "Color" of an argument that is an enum's, or an array of such.
[[nodiscard]] std::string_view enum_name(const manifest::Argument& argument);

/// "red = 0, green = 5"
[[nodiscard]] std::string members_text(const manifest::Argument& argument);

/// Throws ArgumentError (value_range) for the first scalar that is none of its enum's values. `strides`: of
/// the scalars on the host.
void check_enum_value(const std::string& function, const manifest::Argument& argument,
                      const std::byte* scalars, const std::vector<std::int64_t>& strides);

/// Checks all enums that are given by value like check_enum_value(). `args`: the call's items.
void check_enum_values(const std::string& function, const manifest::Call& call, std::span<const Arg> args);

}  // namespace kf::detail
