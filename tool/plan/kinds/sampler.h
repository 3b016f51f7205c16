// Planning samplers.
#pragma once

#include <string>

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Sampler;

/// Answers feed() for this kind. Errors: "argument-type".
Outcome<manifest::Argument> feed_sampler(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Sampler&) { return false; }
inline bool is_same_for_all_calls(const Sampler&, const manifest::Argument&) { return true; }
inline std::int64_t least_call_rank(const Sampler&, const manifest::Argument&) { return 0; }
inline std::optional<Diagnostic> check_in_call(const Sampler&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Sampler& sampler, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Sampler& sampler, PlannedArgument& argument);

}  // namespace kf::gen::kinds
