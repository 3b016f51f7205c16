// An argument's views along a call's dimensions.
#include "core/views.h"

#include <algorithm>

#include "core/bind_error.h"
#include "core/tensor_state.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// The view of a field in a row-major tensor of structs.
ScalarView struct_field_view(const Argument& argument, const Dims& extents) {
    ScalarView view = row_major_view(extents);
    const auto rank = static_cast<std::size_t>(argument.rank);
    std::int64_t stride = argument.pitch;
    for (std::size_t i = rank; i-- > 0;) {
        view.strides[i] = stride;
        stride *= std::max<std::int64_t>(1, extents[i]);
    }
    for (std::size_t i = 0; i < argument.spacing.size(); ++i) {
        view.strides[rank + i] = argument.spacing[i];
    }
    return view;
}

}  // namespace

CallView along_call(const Argument& argument, const ScalarView& view, std::size_t call_rank) {
    CallView result;
    result.strides = Dims(call_rank, 0);
    const auto inner = static_cast<std::size_t>(argument.inner_rank);
    if (!view.present) {
        result.inner = Dims(inner, 0);
        result.trailing = Dims(inner + argument.trailing.size(), 0);
        return result;
    }
    result.present = true;
    result.address = view.address;
    for (std::size_t k = 0; k < argument.map.size(); ++k) {
        if (view.extents[k] != 1) {
            result.strides[static_cast<std::size_t>(argument.map[k])] = view.strides[k];
        }
    }
    for (std::size_t k = argument.map.size(); k < view.extents.size(); ++k) {
        if (result.inner.size() < inner) {
            result.inner.push_back(view.extents[k]);
        }
        result.trailing.push_back(view.strides[k]);
    }
    return result;
}

ScalarView row_major_view(const Dims& extents) { return {true, 0, extents, row_major(extents)}; }

void plan_output(const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    BoundArgument& bound = binding.arguments[i];
    const Dims extents = made_extents(argument, binding.shape);
    bound.allocate = true;
    for (std::size_t k = 0; k < static_cast<std::size_t>(argument.rank); ++k) {
        bound.allocate_shape.push_back(extents[k]);
    }
    (void)checked_product(extents, request.function.name.c_str());
    bound.data = along_call(
        argument, argument.pitch == 0 ? row_major_view(extents) : struct_field_view(argument, extents),
        binding.shape.size());
}

CallView along_shape(const BindRequest& request, std::size_t i, const Dims& shape) {
    const Argument& argument = request.call.arguments[i];
    const ScalarView& gradient = request.arguments[i].grad_out;
    Dims expected = shape;
    for (const std::int64_t extent : argument.trailing) {
        expected.push_back(extent);
    }
    if (gradient.present && !(gradient.extents == expected)) {
        fail(request, i, ErrorCode::shape_mismatch,
             "its gradient is one for each call (accumulate \"push\"): expected shape " +
                 to_string(expected) + ", found " + to_string(gradient.extents));
    }
    return along_shape(gradient, argument, shape);
}

CallView along_shape(const ScalarView& gradient, const Argument& argument, const Dims& shape) {
    Argument whole;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        whole.map.push_back(static_cast<std::int64_t>(d));
    }
    whole.trailing = argument.trailing;
    return along_call(whole, gradient, shape.size());
}

Dims made_extents(const Argument& argument, const Dims& shape) {
    // What all calls are combined to has one element, unless its kind leaves out some dimensions itself.
    const bool single =
        is_combined(argument) && argument.call_rank == static_cast<std::int64_t>(shape.size());
    const auto rank = static_cast<std::size_t>(argument.rank);
    Dims extents;
    for (std::size_t k = 0; k < argument.map.size(); ++k) {
        if (k < rank) {
            extents.push_back(single ? 1 : shape[static_cast<std::size_t>(argument.map[k])]);
        } else {
            extents.push_back(argument.element.extents[k - rank]);
        }
    }
    for (const std::int64_t extent : argument.trailing) {
        extents.push_back(extent);
    }
    return extents;
}

}  // namespace kf::detail
