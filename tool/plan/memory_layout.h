// How values lie in memory that functions reach themselves, through pointers and buffers.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace kf::gen {

/// Bytes of a value, with the padding at its end, and its alignment.
struct MemoryLayout {
    std::int64_t size = 0;
    std::int64_t alignment = 1;
};

/// The layout in CUDA, where vectors of two and four are aligned as a whole, and half3 has four.
[[nodiscard]] MemoryLayout cuda_layout(const Type& type);

/// Returns the difference between CUDA's layout and that of the host and Vulkan: "field 'velocity' is at byte
/// 8 there, and at byte 4 …"; empty where nothing does.
[[nodiscard]] std::string cuda_difference(const Type& type);

/// Whether there is a bool in it, which is 4 bytes on Vulkan, and 1 on CUDA and the host.
[[nodiscard]] bool holds_bool(const Type& type);

/// Whether all of it is values whose place is known: no resources, pointers, interfaces or inherited fields.
[[nodiscard]] bool is_plain(const Type& type);

/// Whether the call is passed pointers: it may reach memory that only the caller knows.
[[nodiscard]] bool leads_elsewhere(const PlannedCall& call);

/// Returns whether it is a pointer, or one is within it, or in the elements of what is.
[[nodiscard]] bool holds_pointer(const Type& type);

}  // namespace kf::gen
