// What the binder's answers have in common for values and tensors, or for both kinds of tensors.
#include "core/kinds/element_binding.h"

#include <algorithm>
#include <vector>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/conversion_costs.h"
#include "core/describe.h"
#include "core/given.h"
#include "core/tensor_state.h"
#include "core/views.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// Whether x, y, z and w may be the last extent: of a vector, or of one that a tensor's numbers make.
bool takes_components(const Argument& argument) {
    return argument.element.extents.empty() ? !argument.trailing.empty() : ends_in_vector(argument);
}

/// The last extents of `shape` are the element's.
bool ends_with(const Dims& shape, const std::vector<std::int64_t>& extents) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (!fits_extent(shape[shape.size() - extents.size() + i], extents[i])) {
            return false;
        }
    }
    return true;
}

/// The scalars of one struct lie as its kernels expect.
bool is_field_packed(const Argument& argument, const CallView& view) {
    const Dims expected =
        argument.spacing.empty() ? row_major(Dims(argument.trailing)) : Dims(argument.spacing);
    for (std::size_t i = 0; i < argument.trailing.size(); ++i) {
        if (argument.trailing[i] != 1 && view.trailing[i] != expected[i]) {
            return false;
        }
    }
    return true;
}

/// Kernels load an element at once, with the alignment that its size allows.
bool is_loadable(const Argument& argument, const CallView& view) {
    const std::int64_t bytes = manifest::scalar_bytes(argument.element.scalar) * element_scalars(argument);
    const std::int64_t alignment = std::min<std::int64_t>(16, bytes & -bytes);
    return is_dense(Dims(argument.trailing), view.trailing) &&
           view.address % static_cast<std::uint64_t>(alignment) == 0;
}

std::optional<int> untyped_cost(ScalarType from, ScalarType to) {
    const bool to_floating = is_floating(to);
    if (from == ScalarType::boolean) {
        return to == ScalarType::boolean ? std::optional(0) : std::nullopt;
    }
    if (to == ScalarType::boolean || (is_floating(from) && !to_floating)) {
        return std::nullopt;
    }
    if (to_floating) {
        const int cost = (to == ScalarType::float32 ? 0 : to == ScalarType::float64 ? 1 : 2) * scalar_cost;
        return is_floating(from) ? cost : cost + to_floating_cost;
    }
    switch (to) {
        case ScalarType::int32: return 0;
        case ScalarType::int64: return 1 * scalar_cost;
        case ScalarType::uint32: return 2 * scalar_cost;
        case ScalarType::uint64: return 3 * scalar_cost;
        case ScalarType::int16: return 4 * scalar_cost;
        case ScalarType::uint16: return 5 * scalar_cost;
        default: return 6 * scalar_cost;
    }
}

}  // namespace

std::optional<int> weak_cost(const ArgShape& given, ScalarType to) {
    if (given.own == to) return 0;
    const std::optional<int> cost = untyped_cost(given.scalar, to);
    return cost && given.own ? *cost + not_own_cost : cost;
}

std::optional<int> element_cost(const Argument& argument, const ArgShape& given) {
    if (given.kind == ArgShape::Kind::generator) {
        return std::nullopt;
    }
    if (given.kind == ArgShape::Kind::absent) {
        const bool optional = is_only_written(argument.role);
        return optional || argument.tangent_of >= 0 ? std::optional(0) : std::nullopt;
    }
    const ScalarType wanted = argument.element.scalar;
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    if (given.shape.size() != dims || (given.components && !takes_components(argument))) {
        return std::nullopt;
    }
    int total = ends_with(given.shape, argument.element.extents) ? 0 : wrong_extent_cost;
    if (given.kind == ArgShape::Kind::weak) {
        const std::optional<int> conversion = weak_cost(given, wanted);
        if (!conversion) {
            return std::nullopt;
        }
        total += *conversion;
    } else if (given.scalar != wanted) {
        return std::nullopt;
    }
    return given.is_cast ? total + cast_cost : total;
}

std::optional<int> tensor_cost(const Argument& argument, const ArgShape& given) {
    std::optional<int> cost = element_cost(argument, given);
    // What lies on the host already is sooner a value than a tensor of rank 0.
    const bool on_host =
        given.kind == ArgShape::Kind::weak || (given.kind == ArgShape::Kind::array && !given.is_watched);
    if (cost && on_host && argument.rank == 0) {
        *cost += last_resort_cost;
    }
    return cost;
}

std::string tensor_text(const Argument& argument) {
    return type_text(argument) + " tensor[" + std::to_string(argument.rank) + "]";
}

void check_tensor(const BindRequest& request, std::size_t i) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    const auto found = [&] {
        return "expected " + host_text(request.call, i) + ", found " +
               describe_tensor(view.scalar, view.data.extents);
    };
    if (view.scalar != argument.element.scalar) {
        fail(request, i, ErrorCode::type_mismatch, found());
    }
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    if (view.data.extents.size() != dims) {
        fail(request, i, ErrorCode::rank_mismatch, found());
    }
    const auto leading = static_cast<std::size_t>(argument.call_rank + argument.inner_rank);
    for (std::size_t k = 0; k < argument.trailing.size(); ++k) {
        const std::int64_t extent = view.data.extents[leading + k];
        if (extent != argument.trailing[k]) {
            fail(request, i, ErrorCode::shape_mismatch,
                 dimension_text(leading + k) + " of shape " + to_string(view.data.extents) +
                     ": expected extent " + std::to_string(argument.trailing[k]) + ", found " +
                     std::to_string(extent));
        }
    }
    for (const ScalarView* gradient : {&view.grad_in, &view.grad_out}) {
        const bool pushed = is_pushed(argument);
        if (gradient->present && !pushed && gradient->extents != view.data.extents) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "its gradient has shape " + shape_text(request, i, gradient->extents) + ", it has shape " +
                     shape_text(request, i, view.data.extents));
        }
    }
}

void bind_tensor(const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    BoundArgument& bound = binding.arguments[i];
    const std::size_t rank = binding.shape.size();
    if (view.kind == Arg::Kind::tensor) {
        bound.data = along_call(argument, view.data, rank);
        if (runs_backward(request.pass)) {
            bound.grad_in = along_call(argument, view.grad_in, rank);
            bound.grad_out = is_pushed(argument) ? along_shape(request, i, binding.shape)
                                                 : along_call(argument, view.grad_out, rank);
        }
    } else if (runs_forward(request.pass) && is_output(argument)) {
        plan_output(request, i, binding);
    }
}

bool are_elements_flat(const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    BoundArgument& bound = binding.arguments[i];
    const bool is_field = argument.pitch != 0;
    const std::int64_t element = is_field ? argument.pitch : element_scalars(argument);
    Layout layout;
    bool packed = true;
    const bool pushed = is_pushed(argument);
    for_each_view(request, binding, i, [&](const CallView& view) {
        if (pushed && &view == &bound.grad_out) {
            Layout own;
            own.join(binding.shape, view.strides, element);
            packed = packed && own.dense;
        } else {
            layout.join(binding.shape, view.strides, element);
        }
        packed = packed && (is_field ? is_field_packed(argument, view) : is_loadable(argument, view));
    });
    bound.step = packed && layout.dense ? 1 : 0;
    return packed && (layout.dense || (layout.single && (!is_output(argument) || is_combined(argument)))) &&
           bound.mode != manifest::GradMode::partial;
}

}  // namespace kf::detail
