// Where the fields of a struct that the host passes lie in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/argument.h"

namespace kf::manifest {

/// Two of a struct's leaves, by their places among them, that lie in the same bytes, where calls write one of
/// them or its gradient: what is in these bytes then depends on which comes last. Members of a union may be
/// read. `size`: the struct's bytes, in which all of them lie.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> shared_places(
    std::span<const Argument> leaves, std::int64_t size);

}  // namespace kf::manifest
