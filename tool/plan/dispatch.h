// Calls that are launched thread by thread instead of element by element.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// Says why functions of that name can't be called as the call says: an entry point of another pipeline or
/// whose attributes a macro writes ("function-entry-point"), or one that asks for system values without being
/// an entry point ("system-value").
Diagnostics check_entry(const CallSpec& call, const std::vector<const Function*>& named);

/// The call's functions where "dispatch" is "threads" or "groups": without their first parameter, which
/// becomes a system value. Error: "dispatch-thread-id" for a function whose first parameter is none.
Outcome<std::vector<Function>> with_thread_ids(const CallSpec& call, const std::vector<Function>& functions);

/// How the function is launched.
manifest::Dispatch dispatch_of(const CallSpec& call, const Function& function);

/// Sets the rank and group size of a call that is launched by threads or groups, and what its system values
/// are in a kernel. Errors: "dispatch-argument" for arguments that are no value or whole tensor, outputs and
/// passes that such a call can't have; "group-size" where nothing states it, or the spec contradicts the
/// source; "system-value".
Diagnostics plan_dispatch(const CallSpec& call, const Function& declared, const LinkTime& link,
                          PlannedCall& planned);

}  // namespace kf::gen
