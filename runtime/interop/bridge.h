// CUDA memory for Vulkan's kernels: one GPU by both APIs.
#pragma once

#include <kf/any_tensor.h>
#include <kf/device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/sharing.h"
#include "vulkan/sharing.h"

namespace kf::interop {

/// An array in CUDA's memory, and what a call does with it.
struct CudaArray {
    std::uint64_t first = 0;  ///< where the first element is; others may be before it
    ElementType element;
    Dims shape;
    Dims strides;  ///< in elements
    bool is_read = true;
    bool is_written = true;
};

/// The Vulkan device of a GPU that others use by CUDA. Thread-safe.
class Bridge {
public:
    /// Opens it, or takes `usual` where that is it. `ordinal`: as CUDA counts. Throws kf::DeviceError: what
    /// the drivers say, no_device where Vulkan has no such GPU, missing_feature where they share nothing.
    static std::shared_ptr<Bridge> open(int ordinal, const Device& usual);
    explicit Bridge(std::shared_ptr<const cuda::Peer> peer, Device device);
    /// Waits for the device.
    ~Bridge();
    Bridge(const Bridge&) = delete;
    Bridge& operator=(const Bridge&) = delete;

    [[nodiscard]] const Device& device() const { return device_; }

private:
    friend class Crossing;

    /// Memory that both have.
    struct Piece {
        Piece(const std::shared_ptr<const cuda::Peer>& peer, driver::Device& device, std::uint64_t size);

        std::uint64_t size;
        vulkan::SharedMemory shared;
        cuda::ImportedMemory imported;
        cuda::Event last_use;  ///< on a CUDA stream
    };

    /// Returns a buffer that nobody uses, of `size` bytes or more.
    std::unique_ptr<Piece> take(std::uint64_t size);
    void give(std::unique_ptr<Piece> piece);
    std::unique_ptr<Piece> make(std::uint64_t size);
    /// Has all later work of the device wait for what the stream has now.
    void enter(cuda::CUstream stream);
    /// Has all later work of the stream wait for what the device has now.
    void leave(cuda::CUstream stream);

    std::shared_ptr<const cuda::Peer> peer_;
    Device device_;
    vulkan::SharedTimeline to_vulkan_;
    vulkan::SharedTimeline to_cuda_;
    cuda::ImportedTimeline from_cuda_;
    cuda::ImportedTimeline from_vulkan_;
    cuda::Event mark_;

    std::mutex mutex_;
    std::uint64_t entered_ = 0;
    std::uint64_t left_ = 0;
    std::map<std::uint64_t, std::vector<std::unique_ptr<Piece>>> pieces_;  ///< that nobody uses, by size
};

/// Allocates memory of a GPU, `ordinal` of CUDA's, that a bridge uses where it lies; null where that fails.
/// For C functions that allocators of others call.
void* allocate_shared(std::int64_t size, int ordinal) noexcept;
/// Frees it once the GPU has done what it was given.
void free_shared(void* address) noexcept;

/// One call of Vulkan's kernels on CUDA memory, in the order of a CUDA stream. One thread at a time.
class Crossing {
public:
    /// Throws kf::DeviceError (stream_captured) while the stream is captured.
    Crossing(std::shared_ptr<Bridge> bridge, void* stream);
    /// Where finish() wasn't called, nothing is copied back.
    ~Crossing();
    Crossing(const Crossing&) = delete;
    Crossing& operator=(const Crossing&) = delete;

    /// The array as a tensor of the bridge's device, as long as this lives. Memory of
    /// allocate_shared() is used where it lies; else the elements are copied on the GPU, and back
    /// when the call is done. Throws kf::ArgumentError (layout_mismatch) for an array that is written, has
    /// gaps and would have to be copied.
    AnyTensor lend(const CudaArray& array);
    /// Called once all arguments are lent, before the call's commands. Memory that is lent later, as the
    /// call's results are, must be new.
    void begin();
    /// Called when the commands are issued: later work on the stream comes after them. Waits for nothing.
    void finish();

private:
    struct Copied {
        std::unique_ptr<Bridge::Piece> piece;
        std::uint64_t target = 0;
        std::uint64_t offset = 0;  ///< in the piece
        std::uint64_t size = 0;
        bool is_written = false;
    };

    void end(bool copies_back);

    std::shared_ptr<Bridge> bridge_;
    cuda::CUstream stream_;
    bool has_begun_ = false;
    bool is_finished_ = false;
    std::vector<Copied> copied_;
};

}  // namespace kf::interop
