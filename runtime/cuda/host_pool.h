// Pinned host memory, through which bytes go to the device while the caller reuses its own.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cuda/stream.h"

namespace kf::cuda {

/// Thread-safe. Needs the context to be current.
class HostPool {
public:
    explicit HostPool(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    ~HostPool();
    HostPool(const HostPool&) = delete;
    HostPool& operator=(const HostPool&) = delete;

    /// Enqueues on `stream` a copy of `bytes` to the device; they may be reused when this returns. Waits
    /// only where more is on its way than the pool holds, or where no host memory can be pinned.
    void copy_in(CUdeviceptr target, std::span<const std::byte> bytes, const Stream& stream);

    /// Whether copy_in() of `size` bytes would wait for nothing.
    [[nodiscard]] bool has_room(std::uint64_t size, const Stream& stream);

private:
    struct Chunk {
        std::byte* host = nullptr;
        std::size_t used = 0;
        std::uint64_t stream = 0;  ///< whose copies are on their way
        CUevent done = nullptr;    ///< of the last one
    };

    Chunk* acquire(std::size_t size, const Stream& stream);
    Chunk* grow();
    static bool fits(const Chunk& chunk, std::size_t size);

    std::shared_ptr<Context> context_;
    std::mutex mutex_;
    std::vector<Chunk> chunks_;
    std::size_t oldest_ = 0;
};

}  // namespace kf::cuda
