// SHA-256's inner function, by the processor's own instructions where it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kf::detail {

using Sha256State = std::array<std::uint32_t, 8>;

/// Adds `count` blocks of 64 bytes.
using AddBlocks = void (*)(Sha256State& state, const std::byte* blocks, std::size_t count);

/// Works everywhere.
void add_blocks_portably(Sha256State& state, const std::byte* blocks, std::size_t count);

/// Returns what uses x86's SHA extensions, five to ten times as fast, or what works everywhere where this
/// processor has none.
[[nodiscard]] AddBlocks chosen_add_blocks();

}  // namespace kf::detail
