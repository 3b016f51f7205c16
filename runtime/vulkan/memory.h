// Device memory: a few large buffers, handed out in ranges.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/driver.h"
#include "vulkan/context.h"
#include "vulkan/heap.h"

namespace kf::vulkan {

class Memory;

/// A range of one of Memory's buffers, or of somebody else's; comes back when the last owner lets go. Command
/// lists own what they use until the GPU is done, so a range that came back is idle.
class VulkanAllocation final : public driver::Allocation {
public:
    ~VulkanAllocation() override;

    [[nodiscard]] VkBuffer buffer() const { return buffer_; }
    [[nodiscard]] std::uint64_t offset() const { return offset_; }  ///< in buffer()
    [[nodiscard]] const Context* context() const;
    /// Returns null but for memory that is shared with others, in a buffer of its own.
    [[nodiscard]] VkDeviceMemory shared_memory() const { return imported_.memory; }
    [[nodiscard]] bool is_foreign() const { return hazard_key_ != this; }
    /// Returns the key of the memory in hazards: all that was wrapped of one buffer counts as one, and so
    /// does all that was imported of the host's memory, which may be the same bytes in several buffers.
    [[nodiscard]] const void* hazard_key() const { return hazard_key_; }

    /// The submission that uses it last; guarded by the device's lock.
    std::uint64_t last_use = 0;
    /// How many command buffers of the caller's use it, of which nobody here knows when they run. Guarded
    /// by the device's lock.
    std::uint32_t callers_uses = 0;

private:
    friend class Memory;
    std::shared_ptr<Memory> memory_;  ///< null for an empty allocation of no memory
    Heap::Range range_;               ///< of no size where somebody else owns the memory
    std::shared_ptr<void> owner_;     ///< of somebody else's memory
    const void* hazard_key_ = this;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    std::uint64_t offset_ = 0;
    Buffer imported_;  ///< made for it alone, of memory of somebody else's
    const Context* context_ = nullptr;
};

/// Thread-safe.
class Memory : public std::enable_shared_from_this<Memory> {
public:
    /// Where blocks lie: on the device, or in the host's memory, where kernels reach them across a bus.
    enum class Place : std::uint8_t { device, host };

    explicit Memory(std::shared_ptr<Context> context, Place place = Place::device);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Takes memory from what is reserved already; returns null when nothing fits.
    std::shared_ptr<VulkanAllocation> take(std::uint64_t size);
    /// Does what take() does, with a new block when nothing fits. Where the driver has no memory left, gives
    /// back unused blocks and tries again; throws kf::DeviceError (out_of_memory) with the sizes when that is
    /// in vain.
    std::shared_ptr<VulkanAllocation> take_or_grow(std::uint64_t size);

    /// Does what take() does; the first time with a block of `block_size` bytes, of which there is never
    /// another. Null where the driver has no such memory.
    std::shared_ptr<VulkanAllocation> take_of_one(std::uint64_t size, std::uint64_t block_size);

    std::shared_ptr<VulkanAllocation> wrap(driver::ForeignMemory memory);
    /// Imports memory of the host: see driver::Device.
    std::shared_ptr<VulkanAllocation> import_host(const driver::HostMemory& memory);
    /// Imports a file as memory: see vulkan/sharing.h.
    std::shared_ptr<VulkanAllocation> import_file(int file, std::uint64_t size);
    std::shared_ptr<VulkanAllocation> make_exportable(std::uint64_t size);

    /// Gives blocks back of which nothing is in use.
    void trim();

    struct Usage {
        std::uint64_t reserved = 0;  ///< bytes taken from the driver
        std::uint64_t used = 0;      ///< bytes handed out
        std::size_t blocks = 0;      ///< allocations of the driver's now alive
    };
    [[nodiscard]] Usage usage() const;

private:
    friend class VulkanAllocation;
    std::shared_ptr<VulkanAllocation> take_locked(std::uint64_t size);
    /// An allocation of `size` bytes of a buffer of its own, from `offset` on.
    std::shared_ptr<VulkanAllocation> take_over(const Buffer& buffer, std::uint64_t offset,
                                                std::uint64_t size);
    bool grow(std::uint64_t block_size);
    void trim_locked();
    void give(const Heap::Range& range);

    std::shared_ptr<Context> context_;
    Place place_;
    mutable std::mutex mutex_;
    bool is_tried_ = false;  ///< take_of_one() has made its block, or couldn't
    Heap heap_;
    std::vector<Buffer> blocks_;  ///< by the heap's numbers
};

}  // namespace kf::vulkan
