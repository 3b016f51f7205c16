// `kfgen check --gradients`, as far as it is the compiler's: of a spec, or of an artifact alone.
#pragma once

#include <filesystem>
#include <vector>

#include "check_process/check_process.h"
#include "cli/options.h"
#include "run/generate.h"
#include "spec/spec.h"

namespace kf::gen {

/// Checks an artifact, which says nothing of the derivatives that functions take, or of loops' limits.
CheckEnd check_artifact(const std::filesystem::path& program, const Options& options);

/// Checks what was generated of a spec, and not written.
CheckEnd check_generated(const std::filesystem::path& program, const Spec& spec, const Options& options,
                         const Generated& generated);

}  // namespace kf::gen
