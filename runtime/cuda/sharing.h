// A GPU's memory and streams, beside another API of this process that uses the same GPU.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/driver_objects.h"
#include "cuda/context.h"

namespace kf::cuda {

/// A GPU's primary context for what is shared. Thread-safe.
class Peer {
public:
    /// `ordinal`: as CUDA counts. Throws kf::DeviceError, missing_feature where the driver or the GPU shares
    /// nothing.
    explicit Peer(int ordinal, const std::string& library = "libcuda.so.1");
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    [[nodiscard]] const Context& context() const { return *context_; }
    [[nodiscard]] const SharingFunctions& sharing() const { return context_->library().sharing(); }
    [[nodiscard]] std::array<std::uint8_t, 16> uuid() const;
    [[nodiscard]] bool is_capturing(CUstream stream) const;
    /// Copies on the stream.
    void copy(CUdeviceptr target, CUdeviceptr source, std::uint64_t bytes, CUstream stream) const;
    /// Our own stream, on which semaphores are signalled one after the other.
    [[nodiscard]] CUstream own() const { return own_; }

private:
    std::shared_ptr<Context> context_;
    CUstream own_ = nullptr;
};

/// A place on a stream. Thread-safe as far as CUDA is.
class Event {
public:
    explicit Event(std::shared_ptr<const Peer> peer);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(CUstream stream) const;
    /// Has whatever comes later on the stream wait for the event.
    void hold(CUstream stream) const;
    /// The host waits for it.
    void wait() const;

private:
    std::shared_ptr<const Peer> peer_;
    CUevent event_ = nullptr;
};

/// Memory of another API's, which is mapped here as long as this lives.
class ImportedMemory {
public:
    /// Takes the file. Throws kf::DeviceError.
    ImportedMemory(std::shared_ptr<const Peer> peer, int file, std::uint64_t size);
    ~ImportedMemory();
    ImportedMemory(const ImportedMemory&) = delete;
    ImportedMemory& operator=(const ImportedMemory&) = delete;

    [[nodiscard]] CUdeviceptr address() const { return address_; }

private:
    std::shared_ptr<const Peer> peer_;
    CUexternalMemory memory_ = nullptr;
    CUdeviceptr address_ = 0;
};

/// A timeline semaphore of another API's.
class ImportedTimeline {
public:
    /// Takes the file. Throws kf::DeviceError.
    ImportedTimeline(std::shared_ptr<const Peer> peer, int file);
    ~ImportedTimeline();
    ImportedTimeline(const ImportedTimeline&) = delete;
    ImportedTimeline& operator=(const ImportedTimeline&) = delete;

    void signal(std::uint64_t value, CUstream stream) const;
    void wait(std::uint64_t value, CUstream stream) const;

private:
    std::shared_ptr<const Peer> peer_;
    CUexternalSemaphore semaphore_ = nullptr;
};

/// Memory that was allocated to be shared, while it is.
class ExportableBlock {
public:
    CUdeviceptr address = 0;
    std::uint64_t size = 0;
    CUmemGenericAllocationHandle handle = 0;
    int ordinal = 0;

    /// Returns another API's view of the block, for as long as that lives: made by `import` of a file, which
    /// it takes, where there is none yet. `user`: who asks. May be null, as `import` may return that.
    template <class Import>
    std::shared_ptr<driver::Allocation> seen_by(const Peer& peer, const void* user, Import import) {
        const std::lock_guard lock(mutex_);
        for (const auto& [who, memory] : views_) {
            if (who == user) return memory;
        }
        auto memory = import(export_file(peer));
        if (memory != nullptr) views_.emplace_back(user, memory);
        return memory;
    }

private:
    [[nodiscard]] int export_file(const Peer& peer) const;

    std::mutex mutex_;
    std::vector<std::pair<const void*, std::shared_ptr<driver::Allocation>>> views_;
};

/// Allocates memory of a GPU that another API can have, too: for PyTorch's allocator, which calls C
/// functions. Null where that fails.
void* allocate_exportable(std::int64_t size, int ordinal) noexcept;
/// Frees it once the GPU has done what it was given.
void free_exportable(void* address) noexcept;
/// The block that these bytes lie in; null where they are no such memory.
std::shared_ptr<ExportableBlock> find_exportable(CUdeviceptr address, std::uint64_t size);

}  // namespace kf::cuda
