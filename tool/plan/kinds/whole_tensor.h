// Parameters that are tensors themselves: what kinds feed them and what calls do with them.
#pragma once

#include <optional>
#include <vector>

#include "core/manifest.h"
#include "plan/kind_target.h"
#include "plan/kinds/questions.h"
#include "plan/structs.h"

namespace kf::gen {

manifest::Access access_of(TensorForm form);

/// DiffTensor and its kin: loads and stores have derivatives.
bool is_differentiable(TensorForm form);
/// Whether gradients flow out of what it loads, or into what it stores.
bool reads(TensorForm form);
bool writes(TensorForm form);

/// A tensor of structs that a parameter is: its leaves are the struct's fields.
bool holds_struct_tensor(const PlannedParameter& parameter);

/// Whether gradients, or tangents, of a tensor have this field of its structs.
bool is_differentiable_leaf(const PlannedArgument& leaf);

/// Returns the advice for an array without a size.
std::string unsized_array_advice(const std::string& element);

/// Returns the error in a tensor (or an unsized array) as this parameter, before ranks are counted; nothing
/// for any other type. Errors: "type-not-supported", "argument-type".
std::optional<Diagnostic> check_tensor_parameter(const KindSpec& kind, const KindTarget& target);

/// Refuses wishes about gradients of views, which functions read as well as add to: "backward-input".
Diagnostics check_view_gradients(const std::vector<GradientWish>& wishes,
                                 const std::vector<PlannedArgument>& arguments);

}  // namespace kf::gen

namespace kf::gen::kinds {

using manifest::kinds::WholeTensor;

/// Answers feed() for a kind `tensor` and a parameter that check_tensor_parameter() accepts.
Outcome<manifest::Argument> feed_whole_tensor(const KindSpec& kind, const KindTarget& target);

inline bool can_have_gradient(const WholeTensor&) { return true; }
inline bool is_same_for_all_calls(const WholeTensor&, const manifest::Argument& argument) {
    return argument.call_rank == 0;
}
inline std::int64_t least_call_rank(const WholeTensor&, const manifest::Argument& argument) {
    return argument.call_rank;
}
inline std::optional<Diagnostic> check_in_call(const WholeTensor&, const PlannedArgument&, std::int64_t) {
    return {};
}
std::string gradient_refusal(const WholeTensor& tensor, const AccumulateWay& way);
inline void become_tangent(const WholeTensor&, PlannedArgument&) {}

}  // namespace kf::gen::kinds
