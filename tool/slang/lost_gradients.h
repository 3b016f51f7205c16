// Derivatives that are dropped in calls that aren't differentiable, or kept by those that are marked no_diff,
// where Slang says nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct LostGradient {
    std::string function;  ///< that is differentiated: "shade", "Ray.advance"
    std::string cause;     ///< what the derivative is lost in: "intersect", "asuint"
    bool is_type = false;  ///< `cause` gives a struct without derivatives
    std::string file;      ///< where the code has debug information
    std::int64_t line = 0;
    bool is_kept = false;      ///< `cause` is differentiable, so that Slang ignores the no_diff before it
    bool is_unmarked = false;  ///< the code doesn't say whether no_diff is before it

    bool operator==(const LostGradient&) const = default;
};

/// Finds them in a module's code, as Slang prints it; with `statements`, also calls without a value that the
/// source may mark no_diff. Follows what depends on differentiable inputs into
/// calls that give it back without a derivative, by `out` or `inout`, in a struct or as bits, and from there
/// to what the function gives. What only decides which way code takes isn't lost, nor what detach(), or a
/// no_diff before a call that returns a value, marks. The derivatives of calls that are differentiable and
/// marked no_diff are told, too.
std::vector<LostGradient> lost_gradients(std::string_view code, bool statements = false);

/// Returns the warning; none where `line`, the source's with the call, has no_diff before the call: that is
/// meant. One that is unmarked needs it there.
Diagnostics warning_of(const LostGradient& lost, std::string_view line);

}  // namespace kf::gen
