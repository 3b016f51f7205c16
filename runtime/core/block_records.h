// The one list of what stands in a kernel's parameter block: kfgen lays blocks out by it, and artifacts are
// checked against it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/kinds/questions.h"
#include "core/manifest.h"
#include "core/pass_rules.h"
#include "core/roles.h"

namespace kf::manifest {

/// Which of a call's kernels a block is for. `exact`: its sums don't depend on the order.
struct BlockUse {
    PassKind pass = PassKind::forward;
    Variant variant = Variant::contiguous;
    bool exact = false;
};

/// The records of the block in order: each kernel has these, and no others. What is aligned to 8 bytes comes
/// first, so that there are few gaps.
[[nodiscard]] std::vector<Record> block_records(const Call& call, const BlockUse& use);

/// The scalars that a record `value` holds: those of the parameter, widened to 32 bits at least.
[[nodiscard]] Element widened_element(const Argument& argument);

/// Bytes of a record, with the padding at its end, and its alignment in push constants.
[[nodiscard]] std::int64_t record_bytes(const Call& call, const Record& record);
[[nodiscard]] std::int64_t record_alignment(const Call& call, const Record& record);

/// Bytes of a block of these records as push constants.
[[nodiscard]] std::int64_t push_constant_bytes(const Call& call, const std::vector<Record>& records);
/// How Vulkan kernels are given a block of so many bytes as push constants.
[[nodiscard]] Passing vulkan_passing(std::int64_t push_constant_bytes);

/// Whether contiguous kernels, and those that walk rows, are told if calls share its element.
[[nodiscard]] bool has_step(const Argument& argument);

/// The fields of a struct in a tensor that is a parameter have their place, extents and strides from one of
/// them: of the data, or of gradients. Which argument says it for argument `index`; itself for any other.
enum class Part : std::uint8_t { data, gradient, sums };
[[nodiscard]] std::int64_t leader_of(const Call& call, std::int64_t index, Part part, bool exact);

/// The same of what is like a Call. `host_of` gives the Argument, or ParameterTree, of one of its arguments,
/// or parameters; `is_differentiable` says whether one of its arguments has gradients.
template <class LikeCall, class HostOf, class IsDifferentiable>
[[nodiscard]] std::int64_t find_leader(const LikeCall& call, std::int64_t index, Part part, bool exact,
                                       HostOf host_of, IsDifferentiable is_differentiable) {
    if (!shares_place(host_of(call.arguments[static_cast<std::size_t>(index)]))) return index;
    const auto parameter = std::find_if(call.parameters.begin(), call.parameters.end(), [&](const auto& one) {
        const ParameterTree& host = host_of(one);
        return index >= host.leaf && index < host.leaf + host.leaves;
    });
    if (parameter == call.parameters.end()) return -1;
    const ParameterTree* host = &host_of(*parameter);
    while (host->form == Form::fields) {
        const auto after = std::find_if(host->fields.begin(), host->fields.end(),
                                        [&](const ParameterTree& field) { return field.leaf > index; });
        host = &*std::prev(after);
    }
    for (std::int64_t i = host->leaf; i < host->leaf + host->leaves; ++i) {
        const auto& leaf = call.arguments[static_cast<std::size_t>(i)];
        const bool primal = part == Part::data && host_of(leaf).tangent_of < 0;
        const bool sum = part != Part::sums || needs_scratch(host_of(leaf), PassKind::backward, exact);
        if (primal || (is_differentiable(leaf) && sum)) return i;
    }
    return -1;
}

}  // namespace kf::manifest
