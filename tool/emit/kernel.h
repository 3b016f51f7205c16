// Writes the Slang source of one kernel: a call, a pass, a variant, a target.
#pragma once

#include <kf/pass_kind.h>

#include <string>
#include <vector>

#include "core/manifest.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

using detail::PassKind;

/// How gradients that calls share are summed: in floats, or exactly, so that the order doesn't matter.
enum class Sums : std::uint8_t { fast, exact };

/// A kernel's source and what the runtime writes into its parameter block.
struct EmittedKernel {
    KernelSource source;
    std::string name;  ///< "polynomial.backward.contiguous"
    std::vector<manifest::Record> records;
    std::vector<std::string> fields;  ///< the block's field for each record
    std::vector<manifest::ResourceSlot> resources = {};
    std::vector<std::string> resource_fields = {};         ///< the block's field for each of them in CUDA
    manifest::Passing passing = manifest::Passing::value;  ///< of the block
    std::uint32_t calls_per_thread = 1;
    std::uint32_t resident_groups = 0;  ///< that CUDA's registers should leave room for; 0: as it comes
};

struct KernelRequest {
    const Plan& plan;
    const PlannedCall& call;
    PassKind pass = PassKind::forward;
    manifest::Variant variant = manifest::Variant::contiguous;
    CodeTarget target = CodeTarget::spirv;
    Sums sums = Sums::fast;
};

/// Kernels that are alike in all but their host kinds come out byte for byte the same.
Outcome<EmittedKernel> emit_kernel(const KernelRequest& request);

}  // namespace kf::gen
