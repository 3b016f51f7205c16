// The host's view of a plan: its artifact without kernels.
#pragma once

#include "core/manifest.h"
#include "plan/plan.h"

namespace kf::gen {

/// The plan's functions as its artifact has them, in the same order, without kernels.
manifest::Manifest host_interface(const Plan& plan);

}  // namespace kf::gen
