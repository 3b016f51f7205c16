// Where a kernel's block has a member of one of its records.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "core/manifest.h"

namespace kf::test {

/// The bytes before it; an empty name is the record's first member.
inline std::size_t record_place(const manifest::Kernel& kernel, const std::string& target,
                                manifest::RecordKind kind, std::int64_t argument,
                                const std::string& member = {}) {
    for (std::size_t i = 0; i < kernel.records.size(); ++i) {
        if (kernel.records[i].kind != kind || kernel.records[i].argument != argument) continue;
        const auto start = static_cast<std::size_t>(kernel.layouts.at(target).offsets[i]);
        if (member.empty()) return start;
        for (const manifest::RecordMember& known : manifest::record_layout(kernel.records[i]).members) {
            if (known.name == member) return start + static_cast<std::size_t>(known.offset);
        }
    }
    throw std::logic_error("no such record");
}

}  // namespace kf::test
