// Which kernels a plan needs: every call, pass and variant, identical ones once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/kernel.h"
#include "plan/plan.h"

namespace kf::gen {

/// One kernel to compile: the same for all targets but for how its parameter block arrives.
struct KernelUnit {
    std::string name;
    manifest::Variant variant = manifest::Variant::contiguous;
    std::array<std::uint32_t, 3> group_size{1, 1, 1};
    std::map<CodeTarget, EmittedKernel> sources;
    bool exact = false;                         ///< sums exactly
    std::string source_hash;                    ///< SHA-256 of all targets' sources, hex
    std::string interface;                      ///< what the code relies on: see core/interface.h
    manifest::GroupExtents group_extents = {};  ///< what makes `group_size` of constants
    /// The unit that this is for other values of Plan::link's kept constants, in CUDA alone, and these; such
    /// units are behind all others. -1: it is for itself.
    std::int64_t chosen_of = -1;
    std::vector<std::string> chosen = {};

    bool operator==(const KernelUnit&) const = default;
};

/// A call's kernels as indices into KernelSet::units; -1 where the call has none.
struct CallKernels {
    manifest::Pass forward;
    manifest::Pass forward_deterministic;
    manifest::Pass backward;
    manifest::Pass deterministic;
    manifest::Pass fused;
    manifest::Pass fused_deterministic;

    /// Returns the kernels of all passes, in order; one that passes share comes as often as they do.
    [[nodiscard]] std::vector<std::int64_t> kernels() const;

    bool operator==(const CallKernels&) const = default;
};

struct KernelSet {
    std::vector<KernelUnit> units;
    std::vector<std::vector<CallKernels>> calls;  ///< as Plan::functions and their calls

    bool operator==(const KernelSet&) const = default;
};

/// Writes the source of every kernel and merges those that came out the same.
Outcome<KernelSet> collect_kernels(const Plan& plan, const std::vector<CodeTarget>& targets);

}  // namespace kf::gen
