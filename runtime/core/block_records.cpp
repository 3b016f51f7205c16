// The one list of what stands in a kernel's parameter block.
#include "core/block_records.h"

#include <algorithm>
#include <numeric>

#include "core/record_list.h"

namespace kf::manifest {
namespace {

/// What every Vulkan device takes as push constants.
constexpr std::int64_t push_constant_limit = 128;

/// Whether contiguous kernels have to find each call's index along each dimension.
bool needs_indices(const Call& call) {
    return call.rank > 1 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), counts_along_dimensions);
}

std::int64_t count_of(const std::vector<std::int64_t>& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    return count;
}

std::int64_t up(std::int64_t value, std::int64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::vector<Record> block_records(const Call& call, const BlockUse& use) {
    RecordList list(call, use);
    std::vector<std::int64_t> dimensions(static_cast<std::size_t>(call.rank));
    std::iota(dimensions.begin(), dimensions.end(), 0);
    list.add({RecordKind::launch});
    if (call.reports()) list.add({RecordKind::reports});
    const bool sums =
        std::any_of(call.arguments.begin(), call.arguments.end(),
                    [&](const Argument& argument) { return needs_scratch(argument, use.pass, use.exact); });
    if (sums) list.add({RecordKind::counter});
    if (list.has_rows()) list.add({RecordKind::walk, -1, dimensions});
    // Kernels leave out the threads beyond it.
    const bool guards = call.dispatch == Dispatch::threads;
    const bool indices = guards || (list.has_rows() ? sums : list.is_strided() || needs_indices(call));
    if (indices && call.rank > 0) list.add({RecordKind::shape, -1, dimensions});
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        list_records(call.arguments[i], static_cast<std::int64_t>(i), list);
    }
    std::vector<Record> records = list.take();
    std::stable_partition(records.begin(), records.end(),
                          [&](const Record& record) { return record_alignment(call, record) >= 8; });
    return records;
}

Element widened_element(const Argument& argument) {
    switch (argument.element.scalar) {
        case ScalarType::boolean:
        case ScalarType::uint8:
        case ScalarType::uint16: return {ScalarType::uint32, argument.trailing};
        case ScalarType::int8:
        case ScalarType::int16: return {ScalarType::int32, argument.trailing};
        case ScalarType::float16: return {ScalarType::float32, argument.trailing};
        default: return {argument.element.scalar, argument.trailing};
    }
}

std::int64_t record_bytes(const Call& call, const Record& record) {
    if (record.kind != RecordKind::value) return record_layout(record).size();
    const Element wide = widened_element(call.arguments[static_cast<std::size_t>(record.argument)]);
    return scalar_bytes(wide.scalar) * count_of(wide.extents);
}

std::int64_t record_alignment(const Call& call, const Record& record) {
    if (record.kind != RecordKind::value) return record_layout(record).alignment;
    const Element wide = widened_element(call.arguments[static_cast<std::size_t>(record.argument)]);
    const std::int64_t count = count_of(wide.extents);
    return scalar_bytes(wide.scalar) * (count == 1 ? 1 : count == 2 ? 2 : 4);
}

std::int64_t push_constant_bytes(const Call& call, const std::vector<Record>& records) {
    std::int64_t size = 0;
    std::int64_t largest = 1;
    for (const Record& record : records) {
        const std::int64_t alignment = record_alignment(call, record);
        size = up(size, alignment) + record_bytes(call, record);
        largest = std::max(largest, alignment);
    }
    return up(size, largest);
}

Passing vulkan_passing(std::int64_t push_constant_bytes) {
    if (push_constant_bytes <= push_constant_limit) return Passing::value;
    return push_constant_bytes <= max_uniform_block ? Passing::uniform : Passing::address;
}

bool has_step(const Argument& argument) {
    return (argument.role == Role::in || is_combined(argument)) && argument.call_rank > 0 &&
           !has_free_access(argument);
}

std::int64_t leader_of(const Call& call, std::int64_t index, Part part, bool exact) {
    return find_leader(
        call, index, part, exact, [](const auto& host) -> const auto& { return host; },
        [](const Argument& argument) { return argument.differentiable; });
}

}  // namespace kf::manifest
