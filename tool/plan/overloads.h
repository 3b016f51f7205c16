// Which of several overloads a combination of kinds means.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// An overload that the kinds can feed.
struct Fit {
    const Function* candidate = nullptr;  ///< as declared
    PlannedCall planned;
    bool is_general = false;  ///< generic, or with interfaces
    /// The conversion cost of each argument, in an order that all overloads share: twice the number of
    /// dimensions by which the kind's element type and the parameter's type differ, and 1 more where they
    /// are not the same type (a float3 and a float[3]); 0 where the kind names none.
    std::vector<std::int64_t> distances;
    std::vector<const KindSpec*> kinds = {};  ///< of each parameter, then of the result; null: none is stated
};

/// The one that is nowhere worse than any other: no distance is larger, and among equals it is the plain one
/// beside general ones, and before that the one that leaves the fewest parameters out. Nothing when there is
/// no such.
std::optional<std::size_t> best_fit(const std::vector<Fit>& fits);

}  // namespace kf::gen
