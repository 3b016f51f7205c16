// Memory of images: a few large blocks of each type, handed out in ranges.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/context.h"
#include "vulkan/heap.h"
#include "vulkan/memory.h"

namespace kf::vulkan {

/// Thousands of images in a few allocations of the driver's, which has few (4,096 at times). Thread-safe.
class ImageMemory {
public:
    struct Place {
        std::uint32_t type = 0;  ///< of memory
        Heap::Range range;       ///< of no size: nothing
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };

    explicit ImageMemory(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    ~ImageMemory();
    ImageMemory(const ImageMemory&) = delete;
    ImageMemory& operator=(const ImageMemory&) = delete;

    /// Throws kf::DeviceError (out_of_memory) where the driver has none left.
    Place take(const VkMemoryRequirements& needs);
    void give(const Place& place);
    /// Gives blocks back of which nothing is in use.
    void trim();
    [[nodiscard]] Memory::Usage usage() const;

private:
    struct Pool {
        Heap heap;
        std::vector<VkDeviceMemory> blocks;  ///< by the heap's numbers
    };

    bool grow(Pool& pool, std::uint32_t type, std::uint64_t size);
    void trim(Pool& pool);

    std::shared_ptr<Context> context_;
    mutable std::mutex mutex_;
    std::map<std::uint32_t, Pool> pools_;  ///< by memory type
};

}  // namespace kf::vulkan
