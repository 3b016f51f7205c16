// Generators: which parameters they feed, and what they add to the call's rank.
#pragma once

#include <optional>

#include "core/generator_rules.h"
#include "plan/feed.h"

namespace kf::gen {

/// As feed(), for these kinds. Errors: "argument-type", "argument-rank", "argument-map", "generator-output".
Outcome<manifest::Argument> feed_generator(const KindSpec& kind, const Feed& target);

/// A call_id makes one index for each dimension of the call: "argument-rank" where it doesn't.
Diagnostics check_call_ids(const PlannedCall& call);

/// The host gives nothing for a call_id or thread_id, so overloads must agree on where they are:
/// "generator-alternatives".
std::optional<Diagnostic> check_host_arguments(const PlannedFunction& function);

}  // namespace kf::gen
