// Unaligned stores.
#pragma once

#include <cstddef>
#include <cstring>

namespace kf::detail {

/// Writes a number into memory that need not be aligned for it.
template <class T>
void put(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
}

}  // namespace kf::detail
