// Writes a kernel's parameter block.
#include <kf/half.h>

#include <algorithm>
#include <cstring>

#include "core/bind.h"
#include "core/kinds/binding.h"
#include "core/unaligned.h"

namespace kf::detail {
namespace {

using manifest::Slot;
using manifest::SlotKind;

/// Copies scalars of type From as scalars of type To.
template <class From, class To>
void widen(const void* source, std::byte* target, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value,
                    static_cast<const std::byte*>(source) + i * static_cast<std::int64_t>(sizeof value),
                    sizeof value);
        put(target + i * static_cast<std::int64_t>(sizeof(To)), static_cast<To>(value));
    }
}

std::uint64_t place(std::uint64_t address, std::uint64_t temporary, std::int64_t at) {
    return at >= 0 ? temporary + static_cast<std::uint64_t>(at) : address;
}

std::int64_t signed_number(const Slot& slot, const Binding& binding) {
    const auto d = static_cast<std::size_t>(std::max<std::int64_t>(0, slot.dimension));
    if (slot.kind == SlotKind::total) {
        return binding.total;
    }
    if (slot.kind == SlotKind::shape) {
        return binding.shape[d];
    }
    switch (slot.kind) {
        case SlotKind::outer: return d < binding.walk.split ? binding.shape[d] : 1;
        case SlotKind::rows: return binding.walk.rows;
        case SlotKind::tile_rows: return binding.walk.tile_rows;
        default: break;
    }
    const BoundArgument& bound = binding.arguments[static_cast<std::size_t>(slot.argument)];
    switch (slot.kind) {
        case SlotKind::stride: return bound.data.strides[d];
        case SlotKind::trailing_stride: return bound.data.trailing[d];
        case SlotKind::grad_in_stride: return bound.grad_in.strides[d];
        case SlotKind::grad_in_trailing_stride: return bound.grad_in.trailing[d];
        case SlotKind::grad_out_stride: return bound.grad_out.strides[d];
        case SlotKind::grad_out_trailing_stride: return bound.grad_out.trailing[d];
        case SlotKind::scratch_count: return bound.scratch_count;
        default: return bound.scratch_strides[d];
    }
}

}  // namespace

void put_value(const ElementType& element, const void* source, std::byte* target) {
    const std::int64_t count = element.scalars();
    switch (element.scalar) {
        case ScalarType::boolean:
            for (std::int64_t i = 0; i < count; ++i) {
                put(target + 4 * i, std::uint32_t{static_cast<const std::uint8_t*>(source)[i] != 0});
            }
            break;
        case ScalarType::int8: widen<std::int8_t, std::int32_t>(source, target, count); break;
        case ScalarType::int16: widen<std::int16_t, std::int32_t>(source, target, count); break;
        case ScalarType::uint8: widen<std::uint8_t, std::uint32_t>(source, target, count); break;
        case ScalarType::uint16: widen<std::uint16_t, std::uint32_t>(source, target, count); break;
        case ScalarType::float16: widen<half, float>(source, target, count); break;
        default: std::memcpy(target, source, element.size()); break;
    }
}

void pack(const manifest::Call& call, const manifest::Kernel& kernel, const manifest::BlockLayout& layout,
          const Binding& binding, std::span<const void* const> values, std::uint64_t temporary,
          std::span<std::byte> block) {
    std::fill(block.begin(), block.end(), std::byte{0});
    for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
        const Slot& slot = kernel.slots[i];
        std::byte* target = block.data() + layout.offsets[i];
        const auto index = static_cast<std::size_t>(std::max<std::int64_t>(0, slot.argument));
        const BoundArgument* bound = slot.argument >= 0 ? &binding.arguments[index] : nullptr;
        switch (slot.kind) {
            case SlotKind::groups: put(target, binding.groups); break;
            case SlotKind::step: put(target, bound->step); break;
            case SlotKind::row_length: put(target, static_cast<std::int32_t>(binding.walk.row_length)); break;
            case SlotKind::tile_runs: put(target, static_cast<std::int32_t>(binding.walk.tile_runs)); break;
            case SlotKind::tiles_down:
                put(target, static_cast<std::uint32_t>(binding.walk.tiles_down));
                break;
            case SlotKind::tiles_along:
                put(target, static_cast<std::uint32_t>(binding.walk.tiles_along));
                break;
            case SlotKind::along_reciprocal: put(target, along_reciprocal(binding.walk.tiles_along)); break;
            case SlotKind::extent:
                put(target,
                    static_cast<std::uint32_t>(bound->data.inner[static_cast<std::size_t>(slot.dimension)]));
                break;
            case SlotKind::grad_mode: put(target, static_cast<std::uint32_t>(bound->mode)); break;
            case SlotKind::address:
                put(target, place(bound->data.address, temporary, bound->value_at));
                break;
            case SlotKind::grad_in:
                put(target, place(bound->grad_in.address, temporary, bound->grad_in_at));
                break;
            case SlotKind::grad_out:
                put(target, place(bound->grad_out.address, temporary, bound->gradient_at));
                break;
            case SlotKind::scratch: put(target, place(0, temporary, bound->scratch_at)); break;
            case SlotKind::value:
            case SlotKind::offset:
            case SlotKind::seed:
            case SlotKind::warmup:
            case SlotKind::low:
            case SlotKind::span:
            case SlotKind::last: pack_slot(call.arguments[index], slot, values[index], target); break;
            case SlotKind::counter: {
                const std::int64_t at = binding.temporary.counter_at;
                put(target, place(0, temporary, at < 0 ? at : at + 4 * (slot.argument + 1)));
                break;
            }
            default: put(target, signed_number(slot, binding)); break;
        }
    }
}

}  // namespace kf::detail
