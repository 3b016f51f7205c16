// Picks the overload that fits a call's arguments. Pure.
#pragma once

#include <kf/invoke.h>

#include <span>

#include "core/manifest.h"

namespace kf::detail {

/// See the public resolve() in kf/invoke.h. Ranks and scalar types decide; extents only among calls that
/// both fit, so that a wrong extent is reported by the binder, which says more.
std::size_t resolve(const manifest::Function& function, std::span<const ArgShape> args);

/// How badly one argument fits, 0 at best. Throws ArgumentError where it can't be taken.
int argument_cost(const manifest::Function& function, const manifest::Argument& argument,
                  const ArgShape& given);

}  // namespace kf::detail
