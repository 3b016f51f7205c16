// Ways to accumulate: which ones a call has, and the functions that `.accumulate()` picks from.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// Whether it is for gradients of tensors alone.
inline bool is_for_gradients(const AccumulateWay& way) {
    return way.overwrite || way.combine == manifest::Accumulate::push;
}

/// Returns the ways that a call's spec and one choice of kinds state together, but not inputs' "sum" or
/// "overwrite" by kinds alone. `kinds`: of each parameter, in their order, and of the result (or null).
std::vector<AccumulateSpec> ways_of(const CallSpec& call, const PlannedCall& planned,
                                    const std::vector<const KindSpec*>& kinds);

/// Whether calls may share the elements of an output.
bool may_combine(const PlannedCall& call, const PlannedArgument& output);

/// Returns the output's name in "accumulate", or its struct's, where its values can be summed.
std::optional<std::string> name_to_sum(const PlannedCall& call, const PlannedArgument& output);

/// Names what there is nothing to accumulate in, and ways that there aren't.
Diagnostics check_ways(const PlannedCall& call);

/// Makes a function of each combination of ways, beside the one that has the defaults.
Diagnostics add_choices(Plan& plan);

}  // namespace kf::gen
