// What the binder's answers have in common for values and tensors, or for both kinds of tensors.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>

#include "core/bind.h"

namespace kf::detail {

/// What it costs to take a number, or the numbers of a list, as a scalar type; nothing when it can't be.
/// Lower fits better.
[[nodiscard]] std::optional<int> weak_cost(const ArgShape& given, ScalarType to);

/// What it costs to take what is given as elements of the argument's, in its shape; nothing when it can't be.
[[nodiscard]] std::optional<int> element_cost(const manifest::Argument& argument, const ArgShape& given);

/// The same of a tensor.
[[nodiscard]] std::optional<int> tensor_cost(const manifest::Argument& argument, const ArgShape& given);

/// "float3 tensor[2]".
[[nodiscard]] std::string tensor_text(const manifest::Argument& argument);

/// Throws ArgumentError unless the given tensor's type, rank and trailing extents are the argument's.
void check_tensor(const BindRequest& request, std::size_t i);

/// Sets the views of a tensor that is given, or that is to be made.
void bind_tensor(const BindRequest& request, std::size_t i, Binding& binding);

/// Whether a call's flat index finds the scalars of an argument of which each call has one element; sets its
/// step.
[[nodiscard]] bool are_elements_flat(const BindRequest& request, std::size_t i, Binding& binding);

}  // namespace kf::detail
