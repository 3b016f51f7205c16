// Writes a kernel's parameter block.
#include <kf/half.h>

#include <algorithm>
#include <cstring>

#include "core/bind.h"
#include "core/kinds/binding.h"
#include "core/unaligned.h"

namespace kf::detail {
namespace {

using manifest::Record;
using manifest::RecordKind;

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

/// Writes the members of a record one after the other.
class Members {
public:
    explicit Members(std::byte* target) : target_(target) {}

    template <class T>
    Members& add(T value) {
        put(target_, value);
        target_ += sizeof value;
        return *this;
    }

    /// Adds strides along the call's dimensions.
    Members& add_strides(const Record& record, const Dims& call) {
        for (const std::int64_t d : record.dimensions) add(call[static_cast<std::size_t>(d)]);
        return *this;
    }
    /// Adds strides along the call's dimensions, and then along the argument's own.
    Members& add_strides(const Record& record, const Dims& call, const Dims& trailing) {
        add_strides(record, call);
        for (std::int64_t i = 0; i < record.trailing; ++i) add(trailing[static_cast<std::size_t>(i)]);
        return *this;
    }

private:
    std::byte* target_;
};

void pack_walk(const Walk& walk, const Record& record, const Dims& shape, std::byte* target) {
    Members members(target);
    members.add(walk.rows).add(walk.tile_rows);
    for (std::size_t d = 0; d < record.dimensions.size(); ++d) {
        members.add(d < walk.split ? shape[d] : std::int64_t{1});
    }
    members.add(static_cast<std::int32_t>(walk.row_length)).add(static_cast<std::int32_t>(walk.tile_runs));
    members.add(static_cast<std::uint32_t>(walk.tiles_down))
        .add(static_cast<std::uint32_t>(walk.tiles_along));
    members.add(along_reciprocal(walk.tiles_along));
}

/// Writes one of the call's own records.
void pack_call(const Record& record, const Binding& binding, std::uint64_t temporary, std::byte* target) {
    switch (record.kind) {
        case RecordKind::walk: return pack_walk(binding.walk, record, binding.shape, target);
        case RecordKind::shape: Members(target).add_strides(record, binding.shape); return;
        case RecordKind::counter: {
            const std::int64_t at = binding.temporary.counter_at;
            return put(target, place(0, temporary, at));
        }
        case RecordKind::reports:
            Members(target).add(binding.reports.words).add(binding.reports.launch);
            return;
        default: Members(target).add(binding.total).add(binding.groups);
    }
}

/// Writes a record of an argument's memory; false for what only its kind knows.
bool pack_memory(const Record& record, const BoundArgument& bound, std::uint64_t temporary,
                 std::byte* target) {
    Members members(target);
    switch (record.kind) {
        case RecordKind::data:
            members.add(place(bound.data.address, temporary, bound.value_at))
                .add_strides(record, bound.data.strides, bound.data.trailing);
            if (record.flagged) members.add(bound.step);
            return true;
        case RecordKind::grad_in:
            members.add(place(bound.grad_in.address, temporary, bound.grad_in_at))
                .add_strides(record, bound.grad_in.strides, bound.grad_in.trailing);
            return true;
        case RecordKind::grad_out:
            members.add(place(bound.grad_out.address, temporary, bound.gradient_at))
                .add_strides(record, bound.grad_out.strides, bound.grad_out.trailing);
            if (record.flagged) members.add(static_cast<std::uint32_t>(bound.mode));
            return true;
        case RecordKind::sums:
            members.add(place(0, temporary, bound.scratch_at))
                .add(bound.scratch_count)
                .add_strides(record, bound.scratch_strides);
            return true;
        case RecordKind::step: members.add(bound.step); return true;
        case RecordKind::strides: members.add_strides(record, bound.data.strides); return true;
        case RecordKind::extents:
            for (std::int64_t d = 0; d < record.trailing; ++d) {
                members.add(static_cast<std::uint32_t>(bound.data.inner[static_cast<std::size_t>(d)]));
            }
            return true;
        default: return false;
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

void pack_again(const Record& record, const Binding& binding, std::uint64_t temporary, std::byte* target) {
    if (record.argument < 0) {
        pack_call(record, binding, temporary, target);
    } else {
        (void)pack_memory(record, binding.arguments[static_cast<std::size_t>(record.argument)], temporary,
                          target);
    }
}

void pack(const manifest::Call& call, const manifest::Kernel& kernel, const manifest::BlockLayout& layout,
          const Binding& binding, std::span<const void* const> values, std::uint64_t temporary,
          std::span<std::byte> block) {
    std::fill(block.begin(), block.end(), std::byte{0});
    for (std::size_t r = 0; r < kernel.records.size(); ++r) {
        const Record& record = kernel.records[r];
        std::byte* target = block.data() + layout.offsets[r];
        if (record.argument < 0) {
            pack_call(record, binding, temporary, target);
            continue;
        }
        const auto i = static_cast<std::size_t>(record.argument);
        if (!pack_memory(record, binding.arguments[i], temporary, target)) {
            pack_record(call.arguments[i], record, values[i], target);
        }
    }
}

}  // namespace kf::detail
