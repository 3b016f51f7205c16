// Puts a plan and its compiled kernels together into what an artifact holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "kernels/collect.h"
#include "kernels/compile.h"

namespace kf::gen {

/// One of assemble()'s kernels. `cuda_images`: of this one.
Outcome<manifest::Kernel> assemble_kernel(const KernelUnit& unit, const CompiledUnit& compiled,
                                          const std::vector<manifest::Image>& cuda_images);

/// `compiled` has one entry for each of the set's units, and so has `cuda_images` when CUDA is a target.
/// Errors: "internal-layout" when the compiler reports a parameter block without a field that was emitted.
Outcome<manifest::Manifest> assemble(const Plan& plan, const KernelSet& kernels,
                                     const std::vector<CompiledUnit>& compiled,
                                     const std::vector<std::vector<manifest::Image>>& cuda_images,
                                     const std::map<std::string, std::string>& producers);

}  // namespace kf::gen
