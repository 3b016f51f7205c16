// How the binder's parts say what is wrong.
#pragma once

#include <kf/error.h>

#include <string>

#include "core/bind.h"

namespace kf::detail {

[[noreturn]] inline void fail(const BindRequest& request, ErrorCode code, const std::string& what) {
    throw ArgumentError(code, request.function.name + ": " + what);
}

[[noreturn]] inline void fail(const BindRequest& request, std::size_t argument, ErrorCode code,
                              const std::string& what) {
    fail(request, code, "argument '" + request.call.arguments[argument].name + "': " + what);
}

inline bool is_output(const manifest::Argument& argument) { return argument.role != manifest::Role::in; }
/// Its value goes into the call.
inline bool is_input(const manifest::Argument& argument) {
    return argument.role == manifest::Role::in || argument.role == manifest::Role::inout;
}

/// Which of an argument's views a pass touches.
inline bool reads_data(const manifest::Argument& argument, PassKind pass) {
    return pass == PassKind::forward || is_input(argument);
}

}  // namespace kf::detail
