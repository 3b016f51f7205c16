// An argument's views along a call's dimensions.
#pragma once

#include <cstddef>

#include "core/bind.h"

namespace kf::detail {

/// A view's strides, sorted by call dimension.
[[nodiscard]] CallView along_call(const manifest::Argument& argument, const ScalarView& view,
                                  std::size_t call_rank);

/// The view of argument `i`'s pushed gradient, which has all of the call's dimensions.
[[nodiscard]] CallView along_shape(const BindRequest& request, std::size_t i, const Dims& shape);
/// The view of a pushed gradient whose shape is `shape`, the call's.
[[nodiscard]] CallView along_shape(const ScalarView& gradient, const manifest::Argument& argument,
                                   const Dims& shape);

/// What a row-major tensor, or a host value, of these extents would be.
[[nodiscard]] ScalarView row_major_view(const Dims& extents);

/// The extents of an output that is made, flattened to scalars: the call's, but those of its elements, which
/// are what they are.
[[nodiscard]] Dims made_extents(const manifest::Argument& argument, const Dims& shape);

/// Plans the tensor that is made for an output.
void plan_output(const BindRequest& request, std::size_t i, Binding& binding);

}  // namespace kf::detail
