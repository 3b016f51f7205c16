// How the binder's parts say what is wrong.
#pragma once

#include <kf/error.h>

#include <string>

#include "core/bind.h"
#include "core/describe.h"
#include "core/roles.h"

namespace kf::detail {

[[noreturn]] inline void fail(const BindRequest& request, ErrorCode code, const std::string& what) {
    throw ArgumentError(code, request.function.name + ": " + what);
}

[[noreturn]] inline void fail(const BindRequest& request, std::size_t argument, ErrorCode code,
                              const std::string& what) {
    fail(request, code, "argument '" + host_name(request.call, argument) + "': " + what);
}

/// The shape of what the host passed, from that of argument `i` in scalars.
inline std::string shape_text(const BindRequest& request, std::size_t i, const Dims& extents) {
    return to_string(host_shape(request.call, i, extents));
}

/// "shape [4, 2] with strides [2, 1]", of what the host passed.
inline std::string layout_text(const BindRequest& request, std::size_t i, const ScalarView& view) {
    return "shape " + shape_text(request, i, view.extents) + " with strides " +
           to_string(host_strides(request.call, i, view.strides));
}

/// Its value goes into the call.
inline bool is_input(const manifest::Argument& argument) {
    return argument.role == manifest::Role::in || argument.role == manifest::Role::inout;
}

/// The forward pass changes its elements.
inline bool writes_data(const manifest::Argument& argument) {
    return is_output(argument) || (is_whole(argument) && access_of(argument) != manifest::Access::read);
}
/// The backward pass reads the gradient of what the call stored there.
inline bool has_flowing_gradient(const manifest::Argument& argument) {
    return argument.differentiable && writes_data(argument);
}

/// Which of an argument's views a pass touches. Backward passes store nothing.
inline bool reads_data(const manifest::Argument& argument, PassKind pass) {
    if (runs_forward(pass)) {
        return true;
    }
    return is_input(argument) && access_of(argument) != manifest::Access::write &&
           access_of(argument) != manifest::Access::add;
}

}  // namespace kf::detail
