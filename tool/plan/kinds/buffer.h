// Planning buffers.
#pragma once

#include <optional>
#include <string>

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen {

/// The kind that feeds a parameter which is no buffer: of a buffer's elements each call has one, as of a
/// tensor's. Nothing for other kinds.
std::optional<KindSpec> kind_of_elements(const KindSpec& kind, const Type& parameter);

}  // namespace kf::gen

namespace kf::gen::kinds {

using manifest::kinds::Buffer;

/// Answers feed() for a parameter that is a buffer. Errors: "argument-type", "type-not-supported",
/// "kind-element".
Outcome<manifest::Argument> feed_buffer(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Buffer&) { return false; }
inline bool is_same_for_all_calls(const Buffer&, const manifest::Argument&) { return true; }
inline std::int64_t least_call_rank(const Buffer&, const manifest::Argument&) { return 0; }
inline std::optional<Diagnostic> check_in_call(const Buffer&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const Buffer& buffer, const AccumulateWay& way);
/// Makes the argument a stand-in for the tangent that it doesn't have, as a field of a struct.
void become_tangent(const Buffer& buffer, PlannedArgument& argument);

}  // namespace kf::gen::kinds
