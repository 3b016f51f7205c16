// Questions that planning asks of every kind of argument. Each kind answers in a file of its own; one that
// leaves an answer out doesn't compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/kinds/questions.h"
#include "diagnostic/diagnostic.h"
#include "plan/kind_target.h"
#include "plan/plan.h"
#include "spec/kind.h"

namespace kf::gen {

/// Fills name, role, kind, element, rank, call_rank and trailing; `map` is left empty unless the kind
/// states it. Errors: "kind-not-supported", "type-not-supported", "kind-element", "argument-type",
/// "argument-rank", "argument-map".
Outcome<manifest::Argument> feed(const KindSpec& kind, const KindTarget& target);

/// Whether gradients, or tangents, of it can be asked for: not of what the kernel makes.
[[nodiscard]] bool can_have_gradient(const manifest::Argument& argument);
/// Whether every call gets the same of it: the value, or the whole tensor.
[[nodiscard]] bool is_same_for_all_calls(const manifest::Argument& argument);
/// The rank that its call has at least, as the argument alone says it.
[[nodiscard]] std::int64_t least_call_rank(const manifest::Argument& argument);
/// Returns the error of the argument in a call of this rank.
[[nodiscard]] std::optional<Diagnostic> check_in_call(const PlannedArgument& argument, std::int64_t rank);
/// Why its gradient can't be accumulated so; empty if it can.
[[nodiscard]] std::string gradient_refusal(const manifest::Argument& argument, const AccumulateWay& way);
/// Makes a copy of the argument its tangent, as a call of the forward derivative takes it or gives it.
/// `role`: the tangent's.
void become_tangent(PlannedArgument& argument, manifest::Role role);

}  // namespace kf::gen
