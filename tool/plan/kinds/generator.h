// Generators: which parameters they feed, and what they add to the call's rank.
#pragma once

#include <optional>

#include "core/generator_rules.h"
#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen {

/// The host gives nothing for a call_id or thread_id, so overloads must agree on where they are:
/// "generator-alternatives".
std::optional<Diagnostic> check_host_arguments(const PlannedFunction& function);

}  // namespace kf::gen

namespace kf::gen::kinds {

using manifest::kinds::Generator;

/// Answers feed() for generators. Errors: "argument-type", "argument-rank", "argument-map",
/// "generator-output".
Outcome<manifest::Argument> feed_generator(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Generator&) { return false; }
inline bool is_same_for_all_calls(const Generator&, const manifest::Argument&) { return false; }
std::int64_t least_call_rank(const Generator& generator, const manifest::Argument& argument);
/// A call_id makes one index for each dimension of the call: "argument-rank" where it doesn't.
std::optional<Diagnostic> check_in_call(const Generator& generator, const PlannedArgument& argument,
                                        std::int64_t rank);
std::string gradient_refusal(const Generator& generator, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Generator& generator, PlannedArgument& argument);

}  // namespace kf::gen::kinds
