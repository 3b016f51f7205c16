// Fields that lie where others do, as members of C++ unions.
#pragma once

#include "diagnostic/diagnostic.h"
#include "plan/plan.h"

namespace kf::gen {

/// Refuses fields in the same bytes where the call writes one of them or its gradient: "host-struct".
Diagnostics check_shared_fields(const PlannedCall& call);

}  // namespace kf::gen
