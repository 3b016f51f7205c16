// The one list of what stands in a kernel's parameter block.
#include "core/block_slots.h"

#include <algorithm>

#include "core/slot_list.h"

namespace kf::manifest {
namespace {

/// What every Vulkan device takes as push constants.
constexpr std::int64_t push_constant_limit = 128;

/// Whether contiguous kernels have to find each call's index along each dimension.
bool needs_indices(const Call& call) {
    return call.rank > 1 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), counts_along_dimensions);
}

void add_rows(SlotList& list) {
    for (const SlotKind kind :
         {SlotKind::rows, SlotKind::row_length, SlotKind::tile_runs, SlotKind::tiles_down,
          SlotKind::tiles_along, SlotKind::along_reciprocal, SlotKind::tile_rows}) {
        list.add(kind);
    }
    for (std::int64_t d = 0; d < list.call().rank; ++d) list.add(SlotKind::outer, -1, d);
}

std::int64_t count_of(const std::vector<std::int64_t>& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    return count;
}

}  // namespace

std::vector<Slot> block_slots(const Call& call, const BlockUse& use) {
    SlotList list(call, use);
    list.add(SlotKind::total);
    list.add(SlotKind::groups);
    const bool scratch =
        std::any_of(call.arguments.begin(), call.arguments.end(),
                    [&](const Argument& argument) { return needs_scratch(argument, use.pass, use.exact); });
    if (scratch) list.add(SlotKind::counter);
    if (list.has_rows()) add_rows(list);
    const bool indices = list.has_rows() ? scratch : list.is_strided() || needs_indices(call);
    for (std::int64_t d = 0; indices && d < call.rank; ++d) list.add(SlotKind::shape, -1, d);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        list_slots(call.arguments[i], static_cast<std::int64_t>(i), list);
    }
    return list.take();
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

std::int64_t slot_bytes(const Call& call, const Slot& slot) {
    switch (slot.kind) {
        case SlotKind::groups:
        case SlotKind::step:
        case SlotKind::seed:
        case SlotKind::warmup:
        case SlotKind::low:
        case SlotKind::span:
        case SlotKind::last:
        case SlotKind::extent:
        case SlotKind::row_length:
        case SlotKind::tile_runs:
        case SlotKind::tiles_down:
        case SlotKind::tiles_along:
        case SlotKind::along_reciprocal:
        case SlotKind::grad_mode: return 4;
        case SlotKind::value: {
            const Element wide = widened_element(call.arguments[static_cast<std::size_t>(slot.argument)]);
            return scalar_bytes(wide.scalar) * count_of(wide.extents);
        }
        default: return 8;
    }
}

std::int64_t slot_alignment(const Call& call, const Slot& slot) {
    if (slot.kind != SlotKind::value) return slot_bytes(call, slot);
    const Element wide = widened_element(call.arguments[static_cast<std::size_t>(slot.argument)]);
    const std::int64_t count = count_of(wide.extents);
    return scalar_bytes(wide.scalar) * (count == 1 ? 1 : count == 2 ? 2 : 4);
}

std::int64_t push_constant_bytes(const Call& call, const std::vector<Slot>& slots) {
    std::int64_t size = 0;
    std::int64_t largest = 1;
    const auto up = [](std::int64_t value, std::int64_t alignment) {
        return (value + alignment - 1) / alignment * alignment;
    };
    for (const Slot& slot : slots) {
        const std::int64_t alignment = slot_alignment(call, slot);
        size = up(size, alignment) + slot_bytes(call, slot);
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
