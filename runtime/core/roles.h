// What an argument's role and way to accumulate mean for its values.
#pragma once

#include "core/manifest.h"

namespace kf::manifest {

/// A call writes it and reads nothing of it.
inline bool is_only_written(Role role) { return role == Role::out || role == Role::result; }

/// A call reads what was there.
inline bool is_read(Role role) { return !is_only_written(role); }

/// A call writes it; of an `inout` it reads what was there.
inline bool is_output(const Argument& argument) { return argument.role != Role::in; }

/// An output that the forward pass combines in its elements, as a backward pass does gradients.
inline bool is_combined(const Argument& argument) {
    return is_output(argument) &&
           (argument.accumulate == Accumulate::sum || argument.accumulate == Accumulate::first);
}

/// Its gradient has one element for each call, whatever it has itself.
inline bool is_pushed(const Argument& argument) { return argument.accumulate == Accumulate::push; }

}  // namespace kf::manifest
