// Planning pointers.
#pragma once

#include <string>

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Pointer;

/// Answers feed() for this kind. Errors: "argument-type", "type-not-supported".
Outcome<manifest::Argument> feed_pointer(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Pointer&) { return false; }
inline bool is_same_for_all_calls(const Pointer&, const manifest::Argument&) { return true; }
inline std::int64_t least_call_rank(const Pointer&, const manifest::Argument&) { return 0; }
inline std::optional<Diagnostic> check_in_call(const Pointer&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Pointer& pointer, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Pointer& pointer, PlannedArgument& argument);

}  // namespace kf::gen::kinds
