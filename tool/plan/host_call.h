// A planned call as hosts see it.
#pragma once

#include "core/manifest.h"
#include "plan/plan.h"

namespace kf::gen {

/// The call as its artifact has it, without its kernels.
manifest::Call host_call(const PlannedCall& call);

}  // namespace kf::gen
