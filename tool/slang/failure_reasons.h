// What in users' code made Slang fail without saying where.
#pragma once

#include <map>
#include <string>

#include "diagnostic/diagnostic.h"
#include "slang/compiler.h"

namespace kf::gen {

/// `errors` are what came of compiling the kernel. Where a reason is known and the code has it, the errors
/// name its line and the cure, and what Slang said is a note of theirs; else they come back as they are, a
/// crash with what may help against it. `sources` are the modules' texts by their paths.
[[nodiscard]] Diagnostics with_reasons(Diagnostics errors, const KernelSource& kernel,
                                       const std::map<std::string, std::string>& sources);

}  // namespace kf::gen
