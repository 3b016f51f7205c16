// Memory of images.
#include "vulkan/image_memory.h"

#include <kf/error.h>

#include <string>

#include "vulkan/result.h"

namespace kf::vulkan {

ImageMemory::~ImageMemory() {
    for (const auto& [type, pool] : pools_) {
        for (const VkDeviceMemory block : pool.blocks) {
            context_->vk.vkFreeMemory(context_->device, block, nullptr);
        }
    }
}

bool ImageMemory::grow(Pool& pool, std::uint32_t type, std::uint64_t size) {
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.allocationSize = size;
    allocate.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    const VkResult result = context_->vk.vkAllocateMemory(context_->device, &allocate, nullptr, &memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
        result == VK_ERROR_TOO_MANY_OBJECTS) {
        return false;
    }
    check(result, "vkAllocateMemory");
    const std::uint32_t index = pool.heap.add_block(size);
    if (index >= pool.blocks.size()) {
        pool.blocks.resize(index + 1);
    }
    pool.blocks[index] = memory;
    return true;
}

ImageMemory::Place ImageMemory::take(const VkMemoryRequirements& needs) {
    const std::optional<std::uint32_t> type =
        context_->memory_type(needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (!type) {
        throw DeviceError(ErrorCode::driver_failure, "vulkan: no memory type for a texture");
    }
    const std::lock_guard lock(mutex_);
    Pool& pool = pools_[*type];
    const auto from_blocks = [&]() -> std::optional<Place> {
        const std::optional<Heap::Range> range = pool.heap.take(needs.size, needs.alignment);
        return range ? std::optional(Place{*type, *range, pool.blocks[range->block]}) : std::nullopt;
    };
    if (const auto place = from_blocks()) return *place;
    const std::uint64_t limit = context_->physical.limits.max_allocation;
    const std::uint64_t exact = Heap::rounded(needs.size);
    if (needs.size <= limit && exact <= limit) {
        const std::uint64_t wanted = pool.heap.next_block_size(needs.size, limit);
        bool grown = grow(pool, *type, wanted);
        if (!grown) {
            trim(pool);
            grown = grow(pool, *type, wanted) || grow(pool, *type, exact);
        }
        if (grown) {
            // A block begins where any image may.
            if (const auto place = from_blocks()) return *place;
        }
    }
    throw DeviceError(ErrorCode::out_of_memory,
                      "vulkan: out of memory on " + context_->physical.info.name + ": " +
                          std::to_string(needs.size) + " bytes wanted for a texture, " +
                          std::to_string(pool.heap.used()) + " in use by others, " +
                          std::to_string(pool.heap.reserved()) + " reserved for textures of the device's " +
                          std::to_string(context_->physical.info.memory) + "; one allocation may have " +
                          std::to_string(limit),
                      static_cast<std::int64_t>(VK_ERROR_OUT_OF_DEVICE_MEMORY));
}

void ImageMemory::give(const Place& place) {
    const std::lock_guard lock(mutex_);
    pools_.at(place.type).heap.give(place.range);
}

void ImageMemory::trim() {
    const std::lock_guard lock(mutex_);
    for (auto& [type, pool] : pools_) trim(pool);
}

void ImageMemory::trim(Pool& pool) {
    for (const std::uint32_t index : pool.heap.remove_unused()) {
        context_->vk.vkFreeMemory(context_->device, pool.blocks[index], nullptr);
        pool.blocks[index] = VK_NULL_HANDLE;
    }
}

Memory::Usage ImageMemory::usage() const {
    const std::lock_guard lock(mutex_);
    Memory::Usage sum;
    for (const auto& [type, pool] : pools_) {
        sum.reserved += pool.heap.reserved();
        sum.used += pool.heap.used();
        sum.blocks += pool.heap.block_count();
    }
    return sum;
}

}  // namespace kf::vulkan
