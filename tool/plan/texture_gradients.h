// Reports textures in derivatives, which have no gradients.
#pragma once

#include "plan/plan.h"

namespace kf::gen {

/// Errors ("texture-gradient") for what a differentiated function writes to textures: an output whose
/// gradient nobody can give.
[[nodiscard]] Diagnostics check_texel_outputs(const PlannedCall& planned);

/// Warnings ("texture-gradient") for textures that functions with derivatives read, one for each: what is
/// read is a constant to them.
[[nodiscard]] Diagnostics texture_warnings(const Plan& plan);

}  // namespace kf::gen
