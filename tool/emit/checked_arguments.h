// Refuses arguments that kernels which check indices can't take.
#pragma once

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// Errors for arguments that are pointers or lead to some: nobody knows how much lies behind those. Nothing
/// where the call checks no indices.
[[nodiscard]] Diagnostics check_checked_arguments(const PlannedCall& call);

/// Returns whether a call's kernels compare indices of whole buffers and textures.
[[nodiscard]] bool checks_accesses(const PlannedCall& call);

}  // namespace kf::gen
