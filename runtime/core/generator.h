// What the binder needs to know of generators: their shape, whether their values fit, and their slots.
#pragma once

#include <kf/any_tensor.h>
#include <kf/generator.h>

#include <cstddef>
#include <string>

#include "core/bind.h"
#include "core/manifest.h"

namespace kf::detail {

/// Whether the host gives something for it; a call_id and a thread_id are the kernel's own.
inline bool has_host_value(const manifest::Argument& argument) {
    return argument.generator != manifest::Generator::call_id &&
           argument.generator != manifest::Generator::thread_id;
}

/// "grid[2]", "wang_hash": as a call spec spells it.
std::string generator_text(GeneratorKind kind, std::size_t rank);

/// Extents and strides, in steps, of the Grid or Range at `value`; empty of the others.
ScalarView view_of_generator(const manifest::Argument& argument, const void* value);

/// Throws ArgumentError for numbers that a generator can't have, and for values that the parameter can't hold
/// in a call of this shape.
void check_generators(const BindRequest& request, const Binding& binding);

/// Writes a slot that only generators have.
void pack_generator(const manifest::Argument& argument, const manifest::Slot& slot, const void* value,
                    std::byte* target);

}  // namespace kf::detail
