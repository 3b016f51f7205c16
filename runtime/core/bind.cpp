// The binder's first half: from arguments to the call's shape and each argument's strides along it.
#include "core/bind.h"

#include <algorithm>

#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/describe.h"
#include "core/kinds/binding.h"
#include "core/tensor_state.h"
#include "core/views.h"

namespace kf::detail {
namespace {

using manifest::Argument;

std::string given_text(const ArgumentView& view) {
    switch (view.kind) {
        case Arg::Kind::tensor: return describe_tensor(view.scalar, view.data.extents);
        case Arg::Kind::generator: return "a generator";
        case Arg::Kind::pointer: return "a pointer";
        case Arg::Kind::texture: return "a texture";
        case Arg::Kind::sampler: return "a sampler";
        default: return "a value";
    }
}

void check_kind(const BindRequest& request, std::size_t i) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    if (view.kind == Arg::Kind::absent) {
        // A backward pass takes its textures, too: its kernels bind all that the call has.
        const bool is_bound = passes_texture(argument) && !runs_forward(request.pass);
        if ((is_input(argument) || is_bound) && has_host_value(argument) && argument.tangent_of < 0) {
            const std::string name = host_name(request.call, i);
            if (manifest::is_global(name)) fail_unset_global(request.function.name, name);
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
    if (view.kind != given_as(argument)) {
        fail(request, i, ErrorCode::type_mismatch,
             "expected " + host_text(request.call, i) + ", found " + given_text(view));
    }
    check_given(request, i);
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
    return request.arguments[i].kind == Arg::Kind::absent && is_output(argument) &&
           (passes_tensor(argument) || passes_texture(argument)) && runs_forward(request.pass);
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
        const Arg::Kind kind = request.arguments[i].kind;
        if ((kind == Arg::Kind::tensor || kind == Arg::Kind::texture) && is_output(argument)) {
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
        BoundArgument& bound = binding.arguments[i];
        bound.data = bound.grad_in = bound.grad_out = along_call(request.call.arguments[i], {}, rank);
        bound.scratch_strides = Dims(rank, 0);
        bind_view(request, i, binding);
    }
    bind_combined(request, binding);
}

void bind(const BindRequest& request, Binding& binding) {
    check_arguments(request);
    if (request.call.dispatch == manifest::Dispatch::elements) {
        check_unlaunched(request);
        bind_shape(request, binding);
    } else {
        bind_threads(request, binding);
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        check_values(request, i, binding);
    }
    bind_views(request, binding);
    bind_gradients(request, binding);
    check_aliasing(request, binding);
    check_textures_apart(request);
    check_deterministic(request, binding);
    bind_launch(request, binding);
}

void check_changed(const BindRequest& request, std::size_t i, const Binding& binding) {
    check_kind(request, i);
    check_values(request, i, binding);
}

}  // namespace kf::detail
