// Planning constants.
#pragma once

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Constant;

/// Answers feed() for this kind. Errors: "argument-type", "type-not-supported", "constant-value".
Outcome<manifest::Argument> feed_constant(const KindSpec& kind, const KindTarget& target);

/// The value as artifacts hold it; nothing where the type, a scalar or an enum, has no such value.
std::optional<std::string> constant_text(const ConstantScalar& scalar, const Type& type);
/// Returns the error "constant-value" for a value that isn't one of the type, which `what` has.
Diagnostic constant_misfit(const ConstantScalar& scalar, const std::string& what, const Type& type);

inline bool can_have_gradient(const Constant&) { return false; }
inline bool is_same_for_all_calls(const Constant&, const manifest::Argument&) { return true; }
inline std::int64_t least_call_rank(const Constant&, const manifest::Argument&) { return 0; }
inline std::optional<Diagnostic> check_in_call(const Constant&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Constant& constant, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Constant& constant, PlannedArgument& argument);

}  // namespace kf::gen::kinds
