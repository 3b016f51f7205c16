// One element that is passed by value, and the gradient that flows into one.
#pragma once

#include "core/manifest.h"
#include "python/host_argument.h"

namespace kf::python {

/// A number given for a vector. The resolver lets no other pass.
bool is_repeated(const Host& host, const manifest::Argument& leaf);

/// Fills `host.value`: arrays and lists hold exactly the element's scalars; one number is every component of
/// a vector.
void pack_value(Host& host, const manifest::Argument& leaf, const Where& where);

/// Fills `host.gradient` with `gradient`, what flows into a value: a number, lists, or an array of any
/// floating dtype, since sums of gradients are often wider than the value.
void pack_flowing(Host& host, const py::object& gradient, const manifest::Argument& leaf, const Where& where);

}  // namespace kf::python
