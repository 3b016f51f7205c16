// Which namespaces C++ headers can have.
#pragma once

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

/// A "reserved-namespace" for each part of the spec's namespace that hides another name or can't be one.
Diagnostics check_namespace(const Spec& spec);

}  // namespace kf::gen
