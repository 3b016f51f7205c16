// Kernels and parameters that are tensors themselves: the function is handed a view of each.
#pragma once

#include <optional>
#include <string>

#include "emit/argument_text.h"
#include "emit/body.h"
#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::WholeTensor;

inline Supply supply_of(const WholeTensor&, const manifest::Argument&) { return Supply::view; }
inline std::optional<MadeValue> made_value(const WholeTensor&, const MadeUse&) { return {}; }
inline bool counts_calls(const WholeTensor&) { return false; }
inline bool moves_along_calls(const WholeTensor&, const manifest::Argument& argument) {
    return argument.call_rank > 0;
}
/// Whole tensors have their strides in every kernel's block.
inline bool is_found_without_strides(const WholeTensor&, const manifest::Argument&) { return true; }
inline std::string cpp_passed_type(const WholeTensor&, const PlannedArgument& item,
                                   const CppStructs& structs) {
    return structs.tensor_type(item);
}
PythonTypes python_types(const WholeTensor& tensor, const PlannedArgument& item, bool takes_gradient);
std::string described(const WholeTensor& tensor, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// Declares a local that holds the tensor as the function takes it, and returns its name.
std::string add_tensor(Body& body, const ArgumentText& tensor);
/// One of structs: all of its fields are in one view, but for sums that lie apart.
std::string add_struct_tensor(Body& body, const KernelContext& kernel, const PlannedParameter& parameter);

}  // namespace kf::gen
