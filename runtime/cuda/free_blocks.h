// Memory that was returned and that the next one who takes as much gets: without a call of the driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "cuda/api.h"

namespace kf::cuda {

/// The last few blocks that a device's own stream has used and nobody has any more. What takes them on the
/// same stream comes after those uses. Thread-safe.
class FreeBlocks {
public:
    struct Block {
        CUdeviceptr address = 0;
        std::uint64_t size = 0;
    };
    /// The driver's own time counts for little beside that of a kernel that fills more.
    static constexpr std::uint64_t largest = 1U << 20U;

    /// Returns the address of a block of exactly that size, the one returned last; 0 where there is none.
    CUdeviceptr take(std::uint64_t size);
    /// Keeps a block. Returns the oldest, which makes room for it and is the caller's; no address for none.
    Block keep(Block block);
    /// Returns the oldest, which is the caller's; no address where there is none any more.
    Block release();

private:
    Block pop();

    static constexpr std::size_t kept = 16;

    std::mutex mutex_;
    std::size_t count_ = 0;
    std::array<Block, kept> blocks_;  ///< the oldest first
};

}  // namespace kf::cuda
