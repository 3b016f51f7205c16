// Planning values.
#pragma once

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Value;

/// Answers feed() for this kind.
Outcome<manifest::Argument> feed_value(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Value&) { return true; }
inline bool is_same_for_all_calls(const Value&, const manifest::Argument& argument) {
    return argument.call_rank == 0;
}
inline std::int64_t least_call_rank(const Value&, const manifest::Argument& argument) {
    return argument.call_rank;
}
inline std::optional<Diagnostic> check_in_call(const Value&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Value& value, const AccumulateWay& way);
void become_tangent(const Value& value, PlannedArgument& argument);

}  // namespace kf::gen::kinds
