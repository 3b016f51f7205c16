// The binder's first half: from arguments to the call's shape and each argument's strides along it.
#include "core/bind.h"

#include <algorithm>

#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/generator.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

using manifest::Argument;

std::string dimension_text(std::size_t dimension) { return "dimension " + std::to_string(dimension); }

/// An argument's own extents, flattened to scalars.
Dims flat_extents(const Argument& argument, const ArgumentView& view) {
    if (view.kind == Arg::Kind::value) {
        return Dims(argument.element.extents);
    }
    return view.data.extents;
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
    if (is_whole(argument)) {
        check_tensor_parameter(request, i);
    }
}

void check_kind(const BindRequest& request, std::size_t i) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    if (view.kind == Arg::Kind::absent) {
        if (is_input(argument) && has_host_value(argument) && argument.tangent_of < 0) {
            fail(request, i, ErrorCode::missing_argument,
                 "expected " + host_text(request.call, i) + ", found nothing");
        }
        return;
    }
    if (view.kind == Arg::Kind::misfit) {
        fail(request, i, ErrorCode::value_range,
             "the number given doesn't fit " + describe(argument) + " (" +
                 range_text(argument.element.scalar) + ")");
    }
    const bool tensor = view.kind == Arg::Kind::tensor;
    const bool generator = view.kind == Arg::Kind::generator;
    if (tensor != (passes_tensor(argument)) || generator != (is_generator(argument))) {
        fail(request, i, ErrorCode::type_mismatch,
             "expected " + host_text(request.call, i) + ", found " +
                 (tensor      ? describe_tensor(view.scalar, view.data.extents)
                  : generator ? std::string("a generator")
                              : std::string("a value")));
    }
    for (std::size_t d = 0; generator && d < view.data.extents.size(); ++d) {
        if (view.data.extents[d] < 0) {
            fail(request, i, ErrorCode::value_range,
                 "extent " + std::to_string(view.data.extents[d]) + " of shape " +
                     to_string(view.data.extents) + " is negative");
        }
    }
    if (tensor) {
        check_tensor(request, i);
    }
}

/// A tangent has the shape of what it belongs to; it isn't broadcast to it.
void check_tangent(const BindRequest& request, std::size_t i) {
    const std::int64_t primal = request.call.arguments[i].tangent_of;
    if (primal < 0 || request.arguments[i].kind != Arg::Kind::tensor) {
        return;
    }
    const ArgumentView& other = request.arguments[static_cast<std::size_t>(primal)];
    if (other.kind == Arg::Kind::tensor && !(request.arguments[i].data.extents == other.data.extents)) {
        fail(request, i, ErrorCode::shape_mismatch,
             "it has shape " + shape_text(request, i, request.arguments[i].data.extents) + ", '" +
                 host_name(request.call, static_cast<std::size_t>(primal)) + "' has shape " +
                 shape_text(request, static_cast<std::size_t>(primal), other.data.extents));
    }
}

/// An output that the caller is to make.
bool is_made(const BindRequest& request, std::size_t i) {
    const Argument& argument = request.call.arguments[i];
    return request.arguments[i].kind == Arg::Kind::absent && is_output(argument) && passes_tensor(argument) &&
           runs_forward(request.pass);
}

/// The extents of an output that is made, flattened to scalars: the call's, but those of its elements, which
/// are what they are.
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

/// Which argument gave each dimension its extent.
struct Feeds {
    static constexpr std::size_t nobody = ~std::size_t{0};
    std::array<std::size_t, max_rank> owner{};
    std::array<bool, max_rank> fed{};
};

std::string conflict(const BindRequest& request, const Feeds& feeds, const Dims& shape, std::size_t d) {
    const std::size_t owner = feeds.owner[d];
    return std::to_string(shape[d]) +
           (owner == Feeds::nobody ? std::string() : " of argument '" + host_name(request.call, owner) + "'");
}

/// `extents`: the argument's own. Those before `first` aren't known yet.
void feed(const BindRequest& request, std::size_t i, const Dims& extents, std::size_t first, Dims& shape,
          Feeds& feeds) {
    const Argument& argument = request.call.arguments[i];
    for (std::size_t k = first; k < argument.map.size(); ++k) {
        const auto d = static_cast<std::size_t>(argument.map[k]);
        feeds.fed[d] = true;
        if (extents[k] == shape[d] || extents[k] == 1) {
            continue;
        }
        if (shape[d] != 1) {
            if (is_output(argument)) {
                return;  // check_output() says it better
            }
            fail(request, i, ErrorCode::shape_mismatch,
                 dimension_text(k) + " of shape " + shape_text(request, i, extents) + ": extent " +
                     std::to_string(extents[k]) + " doesn't broadcast with extent " +
                     conflict(request, feeds, shape, d) + " (equal extents do, and 1)");
        }
        shape[d] = extents[k];
        feeds.owner[d] = i;
    }
}

void check_output(const BindRequest& request, std::size_t i, const Dims& extents, const Dims& shape,
                  const Feeds& feeds) {
    const Argument& argument = request.call.arguments[i];
    for (std::size_t k = 0; k < argument.map.size(); ++k) {
        const auto d = static_cast<std::size_t>(argument.map[k]);
        if (extents[k] == 1 && is_combined(argument)) {
            continue;
        }
        if (extents[k] != shape[d]) {
            fail(request, i, ErrorCode::shape_mismatch,
                 (is_combined(argument) ? "its extents are the call's, or 1: "
                                        : "an output is never broadcast: ") +
                     dimension_text(k) + " of shape " + shape_text(request, i, extents) +
                     ": expected extent " + conflict(request, feeds, shape, d) + ", found " +
                     std::to_string(extents[k]) + " (the call's shape is " + to_string(shape) + ")");
        }
    }
}

/// An output without some of the call's dimensions is one that calls combine in, or there is one call along
/// them.
void check_missing(const BindRequest& request, std::size_t i, const Dims& shape) {
    const Argument& argument = request.call.arguments[i];
    if (is_combined(argument) || argument.call_rank == request.call.rank) {
        return;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const bool mapped = std::find(argument.map.begin(), argument.map.end(),
                                      static_cast<std::int64_t>(d)) != argument.map.end();
        if (!mapped && shape[d] != 1) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "an output is never broadcast: it has no " + dimension_text(d) + " of the call, of extent " +
                     std::to_string(shape[d]) + "; choose how its values are combined (accumulate)");
        }
    }
}

void check_strict(const BindRequest& request, std::size_t i, const Dims& shape, const Feeds& feeds) {
    const Argument& argument = request.call.arguments[i];
    // A value that feeds no dimension isn't a shape of its own.
    if (request.arguments[i].kind == Arg::Kind::absent || argument.call_rank == 0) {
        return;
    }
    const Dims extents = flat_extents(argument, request.arguments[i]);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const auto at = std::find(argument.map.begin(), argument.map.end(), static_cast<std::int64_t>(d));
        if (at == argument.map.end()) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "broadcasting is forbidden (strict_broadcasting): shape " + shape_text(request, i, extents) +
                     " has no dimension for " + dimension_text(d) + " of the call, of extent " +
                     conflict(request, feeds, shape, d));
        }
        const auto k = static_cast<std::size_t>(at - argument.map.begin());
        if (extents[k] != shape[d]) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "broadcasting is forbidden (strict_broadcasting): " + dimension_text(k) + " of shape " +
                     shape_text(request, i, extents) + ": expected extent " +
                     conflict(request, feeds, shape, d) + ", found " + std::to_string(extents[k]));
        }
    }
}

/// A view's strides, sorted by call dimension.
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

/// What a row-major tensor, or a host value, of these extents would be.
ScalarView row_major_view(const Dims& extents) { return {true, 0, extents, row_major(extents)}; }

/// The same of a field in a row-major tensor of structs.
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

/// What kernels add to, as to a gradient.
void bind_combined(const BindRequest& request, Binding& binding) {
    for (std::size_t i = 0; i < request.arguments.size() && runs_forward(request.pass); ++i) {
        BoundArgument& bound = binding.arguments[i];
        if (is_combined(request.call.arguments[i])) {
            bound.grad_out = bound.data;
            bound.data.present = false;
        }
    }
}

/// A pushed gradient has all of the call's dimensions.
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
    Argument whole;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        whole.map.push_back(static_cast<std::int64_t>(d));
    }
    whole.trailing = argument.trailing;
    return along_call(whole, gradient, shape.size());
}

}  // namespace

void check_arguments(const BindRequest& request) {
    if (request.arguments.size() != request.call.arguments.size()) {
        fail(request, ErrorCode::missing_argument,
             "expected " + std::to_string(request.call.arguments.size()) + " arguments (" +
                 describe(request.function, request.call) + "), found " +
                 std::to_string(request.arguments.size()));
    }
    if (request.pass == PassKind::backward && !request.call.has_backward) {
        fail(request, ErrorCode::not_differentiable,
             "it has no backward pass; say \"backward\": true in the call spec, for a [Differentiable] "
             "function");
    }
    if (request.pass == PassKind::fused && !request.call.has_fused) {
        fail(request, ErrorCode::not_differentiable,
             "it has no fused pass; say \"backward\": {\"fused\": true} in the call spec, for a loss");
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        check_kind(request, i);
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        check_tangent(request, i);
    }
}

void bind_shape(const BindRequest& request, Binding& binding) {
    const auto rank = static_cast<std::size_t>(request.call.rank);
    Dims shape(rank, 1);
    Feeds feeds;
    feeds.owner.fill(Feeds::nobody);
    if (request.shape != nullptr) {
        if (request.shape->size() != rank) {
            fail(request, ErrorCode::rank_mismatch,
                 "the shape " + to_string(*request.shape) + " was given, the call has rank " +
                     std::to_string(rank));
        }
        shape = *request.shape;
        feeds.fed.fill(true);
    }
    for (const bool outputs : {false, true}) {
        for (std::size_t i = 0; i < request.arguments.size(); ++i) {
            const Argument& argument = request.call.arguments[i];
            if (is_output(argument) != outputs) {
                continue;
            }
            if (is_made(request, i)) {
                feed(request, i, made_extents(argument, shape), static_cast<std::size_t>(argument.rank),
                     shape, feeds);
            } else if (request.arguments[i].kind != Arg::Kind::absent) {
                feed(request, i, flat_extents(argument, request.arguments[i]), 0, shape, feeds);
            }
        }
    }
    for (std::size_t d = 0; d < rank; ++d) {
        if (!feeds.fed[d]) {
            fail(request, ErrorCode::missing_argument,
                 "no argument gives " + dimension_text(d) +
                     " of the call's shape: give the output or the shape");
        }
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const Argument& argument = request.call.arguments[i];
        if (is_output(argument) && runs_forward(request.pass)) {
            check_missing(request, i, shape);
        }
        if (request.arguments[i].kind == Arg::Kind::tensor && is_output(argument)) {
            check_output(request, i, request.arguments[i].data.extents, shape, feeds);
        } else if (is_made(request, i)) {
            check_output(request, i, made_extents(argument, shape), shape, feeds);
        } else if (request.call.strict_broadcasting) {
            check_strict(request, i, shape, feeds);
        }
    }
    binding.shape = shape;
    binding.total = checked_product(shape, request.function.name.c_str());
}

void bind_views(const BindRequest& request, Binding& binding) {
    const std::size_t rank = binding.shape.size();
    binding.arguments.assign(request.arguments.size(), BoundArgument{});
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const Argument& argument = request.call.arguments[i];
        const ArgumentView& view = request.arguments[i];
        BoundArgument& bound = binding.arguments[i];
        bound.data = bound.grad_in = bound.grad_out = along_call(argument, {}, rank);
        bound.scratch_strides = Dims(rank, 0);
        if (view.kind == Arg::Kind::tensor) {
            bound.data = along_call(argument, view.data, rank);
            if (runs_backward(request.pass)) {
                bound.grad_in = along_call(argument, view.grad_in, rank);
                bound.grad_out = is_pushed(argument) ? along_shape(request, i, binding.shape)
                                                     : along_call(argument, view.grad_out, rank);
            }
        } else if (is_generator(argument)) {
            // Its strides count steps of its values; there is no memory behind them.
            ScalarView steps = view.data;
            steps.present = true;
            bound.data = along_call(argument, steps, rank);
            bound.data.present = false;
        } else if (passes_value(argument)) {
            const ScalarView dense = row_major_view(Dims(argument.element.extents));
            bound.data = along_call(argument, dense, rank);
            if (runs_backward(request.pass) && view.value_gradient) {
                (is_input(argument) ? bound.grad_out : bound.grad_in) = bound.data;
            }
        } else if (runs_forward(request.pass) && is_output(argument)) {
            plan_output(request, i, binding);
        }
    }
    bind_combined(request, binding);
}

void bind(const BindRequest& request, Binding& binding) {
    check_arguments(request);
    bind_shape(request, binding);
    check_generators(request, binding);
    bind_views(request, binding);
    bind_gradients(request, binding);
    check_aliasing(request, binding);
    check_deterministic(request, binding);
    bind_launch(request, binding);
}

}  // namespace kf::detail
