// How many calls a thread takes at a time, and where they lie.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace kf::gen {

/// The calls of one thread between loads and stores.
struct Run {
    std::int64_t length = 1;
    std::int64_t beside = 1;  ///< calls beside each other: 4 where halves are moved in fours

    /// Returns the number that leads from the thread's first call to its call kf_u.
    [[nodiscard]] std::string place(std::int64_t group_size) const;
    /// How far a thread's next calls lie that are not beside each other.
    [[nodiscard]] std::string step(std::int64_t group_size) const;
};

/// Whether calls that lie in fours can move an argument's elements four at a time: scalars of more than a
/// byte.
bool moves_in_quads(const PlannedArgument& argument);

/// Returns the longest run of a kernel whose tensors lie in the calls' order, or which walks rows.
/// How many threads of a group lie beside each other in a tile of pixels; 0: calls lie in rows. Texels that
/// are near in a texture are near in memory.
std::uint32_t tile_width(const PlannedCall& call);

Run run_of(const PlannedCall& call, bool rows, bool exact);

}  // namespace kf::gen
