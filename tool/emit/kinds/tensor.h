// Tensors of which each call reads or writes one element.
#pragma once

#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Tensor;

inline Supply supply_of(const Tensor&, const manifest::Argument&) { return Supply::memory; }
inline std::optional<MadeValue> made_value(const Tensor&, const MadeUse&) { return {}; }
inline bool counts_calls(const Tensor&) { return false; }
inline bool moves_along_calls(const Tensor&, const manifest::Argument&) { return true; }
inline bool is_found_without_strides(const Tensor& tensor, const manifest::Argument&) {
    return tensor.contiguous_only;
}
std::string cpp_passed_type(const Tensor& tensor, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Tensor& tensor, const PlannedArgument& item, bool takes_gradient);
std::string described(const Tensor& tensor, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// The types that Python takes for tensors of every kind.
inline constexpr PythonTypes python_tensor_types = python_sequence | python_tensor;
/// "float3 tensor [d0, any, 3], contiguous"
std::string tensor_text(const PlannedArgument& item, bool contiguous_only);

}  // namespace kf::gen
