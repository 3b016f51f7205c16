// Kernels and parameters that are tensors themselves: the function is handed a view of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/gradient_writer.h"
#include "emit/kinds/questions.h"
#include "emit/tensor_argument.h"

namespace kf::gen::kinds {

using manifest::kinds::WholeTensor;

inline Supply supply_of(const WholeTensor&, const manifest::Argument&) { return Supply::view; }
inline std::optional<MadeValue> made_value(const WholeTensor&, const MadeUse&) { return {}; }
inline bool counts_calls(const WholeTensor&) { return false; }
inline bool moves_along_calls(const WholeTensor&, const manifest::Argument& argument) {
    return argument.call_rank > 0;
}
/// Its strides stand in every kernel's block.
inline bool is_found_without_strides(const WholeTensor&, const manifest::Argument&) { return true; }
inline std::string cpp_passed_type(const WholeTensor&, const PlannedArgument& item,
                                   const CppStructs& structs) {
    return structs.tensor_type(item);
}
PythonTypes python_types(const WholeTensor& tensor, const PlannedArgument& item, bool takes_gradient);
std::string described(const WholeTensor& tensor, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// Declares the views that kernels hand to the function.
class WholeTensorWriter : protected GradientWriter {
protected:
    using GradientWriter::GradientWriter;

    /// The view of a whole tensor's tangent.
    std::string add_tangent_view();
    /// Declares a local that holds the tensor and returns its name.
    std::string add_tensor();
    /// One of structs: all of its fields are in one view, but for sums that lie apart.
    std::string add_struct_tensor(const PlannedParameter& parameter);
    /// Selects the field that speaks for the others; false where there is none.
    bool lead(std::int64_t field, Part part);
    /// Of the field that is selected and those that follow: where their sums start, the number of the call's
    /// first element among them, and how many elements there are.
    std::string add_sums_apart(const PlannedParameter& parameter);
    std::string add_view(const std::string& name, manifest::SlotKind address, StrideKinds strides,
                         const std::string& prefix);
    [[nodiscard]] std::vector<std::string> inner_strides(const TensorView& view,
                                                         manifest::SlotKind kind) const;
    /// Halves are summed in floats beside the gradient.
    std::string add_grad_out_view(const std::string& name);
    [[nodiscard]] TensorView tensor_view() const;
    std::string add_view_local(const std::string& name, const TensorView& view);
    void add_tensor_scratch(const TensorView& view);
};

}  // namespace kf::gen
