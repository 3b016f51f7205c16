// Memory and semaphores that another API in this process has, too, by opaque files: as CUDA exports and
// imports them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/driver.h"

namespace kf::vulkan {

/// Whether the device can do all of this.
[[nodiscard]] bool can_share(const driver::Device& device);

/// Memory of a Vulkan device, and a file that stands for it, which whoever imports it owns.
struct SharedMemory {
    std::shared_ptr<driver::Allocation> memory;
    int file = -1;
};

/// Makes memory on the device. Throws kf::DeviceError.
[[nodiscard]] SharedMemory make_shared_memory(driver::Device& device, std::uint64_t size);

/// Returns `size` bytes that somebody exported: the file is Vulkan's from then on. Null, with the file still
/// the caller's, where the driver doesn't take it.
[[nodiscard]] std::shared_ptr<driver::Allocation> import_memory(driver::Device& device, int file,
                                                                std::uint64_t size);

/// Part of such memory, which keeps the whole.
[[nodiscard]] std::shared_ptr<driver::Allocation> part_of(driver::Device& device,
                                                          const std::shared_ptr<driver::Allocation>& whole,
                                                          std::uint64_t offset, std::uint64_t size);

/// A timeline semaphore that others signal and wait for, too.
class SharedTimeline {
public:
    /// The device must outlive it. Throws kf::DeviceError.
    explicit SharedTimeline(driver::Device& device);
    /// Waits for the device.
    ~SharedTimeline();
    SharedTimeline(const SharedTimeline&) = delete;
    SharedTimeline& operator=(const SharedTimeline&) = delete;

    /// A file that stands for it, which whoever imports it owns.
    [[nodiscard]] int file() const;
    /// Flushes, and has all that comes later on the device wait until the semaphore has the value.
    void wait(std::uint64_t value);
    /// Flushes, and gives the semaphore the value when all that came before on the device is done.
    void signal(std::uint64_t value);

private:
    struct Handle;
    driver::Device& device_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace kf::vulkan
