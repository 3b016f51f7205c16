// Pinned host memory that kernels read and write where it lies.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/stream.h"

namespace kf::cuda {

/// Pieces of a few sizes, used round and round. Thread-safe. Only give_after() needs the context to be
/// current.
class MappedPool {
public:
    static constexpr std::size_t smallest = 256;  ///< bytes; each class has twice the one before
    static constexpr std::size_t classes = 9;

    struct Piece {
        std::byte* host = nullptr;  ///< its address on the device, too: all host memory is in one space
        std::size_t size_class = 0;
    };

    explicit MappedPool(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    ~MappedPool();
    MappedPool(const MappedPool&) = delete;
    MappedPool& operator=(const MappedPool&) = delete;

    /// A piece of `size` bytes or more that nobody uses; one without memory where the pool has given all
    /// that it may have, or no host memory can be pinned.
    Piece take(std::uint64_t size);
    /// Takes back a piece that the GPU is done with.
    void give(const Piece& piece);
    /// Takes back a piece that commands on `stream` may use still.
    void give_after(const Piece& piece, const Stream& stream);

private:
    struct Pending {
        Piece piece;
        CUevent done = nullptr;
    };

    void reclaim();
    Piece cut(std::size_t size_class);

    std::shared_ptr<Context> context_;
    std::mutex mutex_;
    std::vector<std::byte*> chunks_;
    std::size_t used_ = 0;  ///< bytes of the last chunk
    std::array<std::vector<Piece>, classes> idle_;
    std::deque<Pending> pending_;  ///< oldest first
    std::vector<CUevent> events_;  ///< of none
};

}  // namespace kf::cuda
