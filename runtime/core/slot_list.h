// The slots of one kernel's parameter block, while they are listed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/block_slots.h"

namespace kf::manifest {

class SlotList {
public:
    SlotList(const Call& call, const BlockUse& use) : call_(call), use_(use) {}

    [[nodiscard]] const Call& call() const { return call_; }
    [[nodiscard]] const BlockUse& use() const { return use_; }
    /// Whether the kernel is told strides along the call's dimensions.
    [[nodiscard]] bool is_strided() const { return use_.variant != Variant::contiguous; }
    /// Whether the kernel walks rows.
    [[nodiscard]] bool has_rows() const { return use_.variant == Variant::rows; }

    void add(SlotKind kind, std::int64_t argument = -1, std::int64_t dimension = -1) {
        slots_.push_back({kind, argument, dimension});
    }

    /// Adds one for each of these dimensions of the call, in the call's order, where kernels are strided.
    void add_call_strides(std::vector<std::int64_t> dimensions, std::int64_t argument, SlotKind kind) {
        if (!is_strided()) return;
        std::sort(dimensions.begin(), dimensions.end());
        for (const std::int64_t d : dimensions) add(kind, argument, d);
    }

    [[nodiscard]] std::vector<Slot> take() { return std::move(slots_); }

private:
    const Call& call_;
    BlockUse use_;
    std::vector<Slot> slots_;
};

}  // namespace kf::manifest
