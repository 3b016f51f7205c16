// How the binder's parts say what is wrong.
#pragma once

#include <kf/error.h>

#include <string>

#include "core/bind.h"
#include "core/describe.h"
#include "core/kinds/questions.h"
#include "core/pass_rules.h"
#include "core/roles.h"

namespace kf::detail {

[[noreturn]] inline void fail(const BindRequest& request, ErrorCode code, const std::string& what) {
    throw ArgumentError(code, request.function.name + ": " + what);
}

[[noreturn]] inline void fail(const BindRequest& request, std::size_t argument, ErrorCode code,
                              const std::string& what) {
    const bool is_named =
        argument < request.arguments.size() && request.arguments[argument].tensor_name != nullptr;
    fail(request, code,
         "argument '" + host_name(request.call, argument) + "'" +
             (is_named ? " (tensor '" + *request.arguments[argument].tensor_name + "')" : "") + ": " + what);
}

inline std::string dimension_text(std::size_t dimension) { return "dimension " + std::to_string(dimension); }

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

}  // namespace kf::detail
