// Finds what a valid spec asks for that this version of kfgen doesn't generate yet.
#pragma once

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

/// One "kind-not-supported" or "spec-not-supported" for each thing asked for; empty when all is well.
Diagnostics check_supported(const Spec& spec);

}  // namespace kf::gen
