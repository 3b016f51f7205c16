// The binder's steps, in the order of bind().
#pragma once

#include "core/bind.h"

namespace kf::detail {

/// The kernels of a pass: those with exact sums, or the others.
inline const manifest::Pass& pass_kernels(const manifest::Call& call, PassKind pass, bool exact) {
    switch (pass) {
        case PassKind::backward: return exact ? call.deterministic : call.backward;
        case PassKind::fused: return exact ? call.fused_deterministic : call.fused;
        default: return exact ? call.forward_deterministic : call.forward;
    }
}
inline const manifest::Pass& pass_of(const BindRequest& request, bool exact) {
    return pass_kernels(request.call, request.pass, exact);
}

/// Kinds, scalar types, ranks and trailing extents of every argument that is given.
void check_arguments(const BindRequest& request);
/// The call's shape and total, by broadcasting; outputs must have it.
void bind_shape(const BindRequest& request, Binding& binding);
/// Every argument's strides along the call's dimensions; shapes of outputs to allocate.
void bind_views(const BindRequest& request, Binding& binding);
/// How each gradient flows out, and the scratch that half gradients need.
void bind_gradients(const BindRequest& request, Binding& binding);
/// Refuses outputs that overlap what the call also touches; gradients that overlap may become sums.
void check_aliasing(const BindRequest& request, Binding& binding);
/// Refuses textures that a call writes to and that it also has as another argument, but for other mips and
/// layers.
void check_textures_apart(const BindRequest& request);
/// Refuses sums that must be deterministic and would not be.
void check_deterministic(const BindRequest& request, const Binding& binding);
/// Whether the call's kernel that walks rows can run it; sets Binding::walk and each argument's step.
bool plan_walk(const BindRequest& request, Binding& binding);
/// Sets the walk's tiles; returns how many groups share them.
std::int64_t size_walk(const manifest::Kernel& kernel, std::int64_t filling, Walk& walk);
/// Refuses a count of threads, which follows from the call's arguments.
void check_unlaunched(const BindRequest& request);
/// Sets the shape and the groups of a call that the host launches.
void bind_threads(const BindRequest& request, Binding& binding);
/// Which kernel, how many groups, and the temporary memory.
void bind_launch(const BindRequest& request, Binding& binding);

}  // namespace kf::detail
