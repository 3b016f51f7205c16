// The records of one kernel's parameter block, while they are listed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/block_records.h"

namespace kf::manifest {

class RecordList {
public:
    RecordList(const Call& call, const BlockUse& use) : call_(call), use_(use) {}

    [[nodiscard]] const Call& call() const { return call_; }
    [[nodiscard]] const BlockUse& use() const { return use_; }
    /// Returns whether the kernel is told strides along the call's dimensions.
    [[nodiscard]] bool is_strided() const { return use_.variant != Variant::contiguous; }
    /// Returns whether the kernel walks rows.
    [[nodiscard]] bool has_rows() const { return use_.variant == Variant::rows; }

    /// Returns these dimensions of the call in the call's order, or none where kernels aren't strided.
    [[nodiscard]] std::vector<std::int64_t> strided(std::vector<std::int64_t> dimensions) const {
        if (!is_strided()) dimensions.clear();
        std::sort(dimensions.begin(), dimensions.end());
        return dimensions;
    }

    void add(Record record) { records_.push_back(std::move(record)); }

    [[nodiscard]] std::vector<Record> take() { return std::move(records_); }

private:
    const Call& call_;
    BlockUse use_;
    std::vector<Record> records_;
};

}  // namespace kf::manifest
