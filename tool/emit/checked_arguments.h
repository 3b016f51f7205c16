// What kernels that check indices can't take.
#pragma once

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// Errors for arguments that the function indexes where the library doesn't see it: whole buffers and
/// textures, and pointers. Nothing where the call checks no indices.
[[nodiscard]] Diagnostics check_checked_arguments(const PlannedCall& call);

}  // namespace kf::gen
