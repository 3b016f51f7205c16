// What the binder needs to know of generators: their shape, whether their values fit, and their slots.
#pragma once

#include <kf/any_tensor.h>
#include <kf/generator.h>

#include <cstddef>

#include "core/bind.h"
#include "core/generator_rules.h"
#include "core/manifest.h"

namespace kf::detail {

/// Extents and strides, in steps, of the Grid or Range at `value`; empty of the others.
ScalarView view_of_generator(const manifest::Argument& argument, const void* value);

/// Throws ArgumentError for numbers that a generator can't have, and for values that the parameter can't hold
/// in a call of this shape.
void check_generators(const BindRequest& request, const Binding& binding);

/// Writes a slot that only generators have.
void pack_generator(const manifest::Argument& argument, const manifest::Slot& slot, const void* value,
                    std::byte* target);

}  // namespace kf::detail
