// Planning tensors of which each call reads or writes one element.
#pragma once

#include "plan/kind_target.h"
#include "plan/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Tensor;

/// Answers feed() for this kind.
Outcome<manifest::Argument> feed_tensor(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const Tensor&) { return true; }
inline bool is_same_for_all_calls(const Tensor&, const manifest::Argument& argument) {
    return argument.call_rank == 0;
}
inline std::int64_t least_call_rank(const Tensor&, const manifest::Argument& argument) {
    return argument.call_rank;
}
inline std::optional<Diagnostic> check_in_call(const Tensor&, const PlannedArgument&, std::int64_t) {
    return {};
}
inline std::string gradient_refusal(const Tensor&, const AccumulateWay&) { return {}; }
inline void become_tangent(const Tensor&, PlannedArgument&) {}

}  // namespace kf::gen::kinds
