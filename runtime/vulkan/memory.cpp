// Device memory: a few large buffers, handed out in ranges.
#include "vulkan/memory.h"

#include <kf/error.h>

#include <string>

#include "vulkan/imports.h"

namespace kf::vulkan {
namespace {

constexpr VkBufferUsageFlags block_usage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

}  // namespace

VulkanAllocation::~VulkanAllocation() {
    if (memory_ == nullptr || !context_->process.is_here()) {
        return;
    }
    if (range_.size != 0) {
        memory_->give(range_);
    }
    if (imported_.buffer != VK_NULL_HANDLE) {
        destroy_buffer(*context_, imported_);
    }
}

const Context* VulkanAllocation::context() const { return context_; }

Memory::Memory(std::shared_ptr<Context> context, Place place) : context_(std::move(context)), place_(place) {}

Memory::~Memory() {
    for (const Buffer& block : blocks_) {
        if (block.buffer != VK_NULL_HANDLE) {
            destroy_buffer(*context_, block);
        }
    }
}

std::shared_ptr<VulkanAllocation> Memory::take(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    return take_locked(size);
}

std::shared_ptr<VulkanAllocation> Memory::take_locked(std::uint64_t size) {
    auto allocation = std::make_shared<VulkanAllocation>();
    allocation->size = size;
    allocation->context_ = context_.get();
    allocation->home = context_.get();
    allocation->memory_ = shared_from_this();
    if (size == 0) {
        return allocation;
    }
    // A size past the limit is refused before it is rounded up, which could wrap around.
    const std::optional<Heap::Range> range =
        size > context_->physical.limits.max_allocation ? std::nullopt : heap_.take(size);
    if (!range) {
        return nullptr;
    }
    const Buffer& block = blocks_[range->block];
    allocation->range_ = *range;
    allocation->buffer_ = block.buffer;
    allocation->offset_ = range->offset;
    allocation->address = block.address + range->offset;
    allocation->host = block.mapped == nullptr ? nullptr : block.mapped + range->offset;
    return allocation;
}

std::shared_ptr<VulkanAllocation> Memory::wrap(driver::ForeignMemory memory) {
    auto buffer = reinterpret_cast<VkBuffer>(memory.handle);
    if (buffer == VK_NULL_HANDLE) {
        throw ArgumentError(ErrorCode::missing_argument, "vulkan: memory to wrap has no buffer");
    }
    VkMemoryRequirements needs{};
    context_->vk.vkGetBufferMemoryRequirements(context_->device, buffer, &needs);
    if (memory.offset > needs.size || memory.size > needs.size - memory.offset) {
        throw ArgumentError(ErrorCode::index_range, "vulkan: bytes to wrap: " + std::to_string(memory.size) +
                                                        " at " + std::to_string(memory.offset) + " of " +
                                                        std::to_string(needs.size));
    }
    VkBufferDeviceAddressInfo address{};
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = buffer;
    auto allocation = std::make_shared<VulkanAllocation>();
    allocation->address = context_->vk.vkGetBufferDeviceAddress(context_->device, &address) + memory.offset;
    allocation->size = memory.size;
    allocation->context_ = context_.get();
    allocation->home = context_.get();
    allocation->memory_ = shared_from_this();
    allocation->is_wrapped = true;
    allocation->owner_ = std::move(memory.owner);
    allocation->hazard_key_ = buffer;
    allocation->buffer_ = buffer;
    allocation->offset_ = memory.offset;
    return allocation;
}

std::shared_ptr<VulkanAllocation> Memory::import_host(const driver::HostMemory& memory) {
    const std::uint64_t page = context_->physical.limits.host_import_alignment;
    const auto first = reinterpret_cast<std::uintptr_t>(memory.bytes);
    const std::uintptr_t begin = first / page * page;
    const std::uint64_t size = (first - begin + memory.size + page - 1) / page * page;
    if (memory.size == 0 || size > context_->physical.limits.max_allocation) {
        return nullptr;
    }
    const Buffer imported = import_host_memory(*context_, memory.bytes - (first - begin), size, block_usage);
    if (imported.buffer == VK_NULL_HANDLE) {
        return nullptr;
    }
    std::shared_ptr<VulkanAllocation> allocation = take_over(imported, first - begin, memory.size);
    allocation->host = memory.bytes;
    allocation->owner_ = memory.owner;
    allocation->hazard_key_ = this;
    return allocation;
}

std::shared_ptr<VulkanAllocation> Memory::import_file(int file, std::uint64_t size) {
    const Buffer imported = import_file_memory(*context_, file, size, block_usage);
    return imported.buffer == VK_NULL_HANDLE ? nullptr : take_over(imported, 0, size);
}

std::shared_ptr<VulkanAllocation> Memory::make_exportable(std::uint64_t size) {
    return take_over(vulkan::make_exportable(*context_, size, block_usage), 0, size);
}

std::shared_ptr<VulkanAllocation> Memory::take_over(const Buffer& buffer, std::uint64_t offset,
                                                    std::uint64_t size) {
    auto allocation = std::make_shared<VulkanAllocation>();
    allocation->address = buffer.address + offset;
    allocation->size = size;
    allocation->context_ = context_.get();
    allocation->home = context_.get();
    allocation->memory_ = shared_from_this();
    allocation->is_wrapped = true;
    allocation->hazard_key_ = buffer.buffer;
    allocation->imported_ = buffer;
    allocation->buffer_ = buffer.buffer;
    allocation->offset_ = offset;
    return allocation;
}

bool Memory::grow(std::uint64_t block_size) {
    VkMemoryPropertyFlags required = place_ == Place::device ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0;
    if (context_->direct_mapping || place_ == Place::host) {
        required |= VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                    VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    }
    Buffer block;
    try {
        block = create_buffer(*context_, block_size, block_usage, required, 0);
    } catch (const DeviceError& error) {
        if (error.code() == ErrorCode::out_of_memory) {
            return false;
        }
        throw;
    }
    const std::uint32_t index = heap_.add_block(block_size);
    if (index >= blocks_.size()) {
        blocks_.resize(index + 1);
    }
    blocks_[index] = block;
    return true;
}

std::shared_ptr<VulkanAllocation> Memory::take_of_one(std::uint64_t size, std::uint64_t block_size) {
    const std::lock_guard lock(mutex_);
    if (!is_tried_) {
        is_tried_ = true;
        try {
            (void)grow(block_size);
        } catch (const DeviceError&) {  // no memory of that kind: whoever asks does without
        }
    }
    return take_locked(size);
}

std::shared_ptr<VulkanAllocation> Memory::take_or_grow(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (auto allocation = take_locked(size)) {
        return allocation;
    }
    const std::uint64_t limit = context_->physical.limits.max_allocation;
    const std::uint64_t exact = Heap::rounded(size);
    const std::uint64_t reserved = heap_.reserved();
    const std::uint64_t used = heap_.used();
    if (size <= limit && exact <= limit) {
        if (grow(heap_.next_block_size(size, limit))) {
            return take_locked(size);
        }
        trim_locked();
        if (grow(heap_.next_block_size(size, limit)) || grow(exact)) {
            return take_locked(size);
        }
    }
    throw DeviceError(ErrorCode::out_of_memory,
                      "vulkan: out of memory on " + context_->physical.info.name + ": " +
                          std::to_string(size) + " bytes wanted, " + std::to_string(used) + " in use, " +
                          std::to_string(reserved) + " reserved of the device's " +
                          std::to_string(context_->physical.info.memory) + "; one allocation may have " +
                          std::to_string(limit),
                      static_cast<std::int64_t>(VK_ERROR_OUT_OF_DEVICE_MEMORY));
}

void Memory::trim() {
    const std::lock_guard lock(mutex_);
    trim_locked();
}

void Memory::trim_locked() {
    for (const std::uint32_t index : heap_.remove_unused()) {
        destroy_buffer(*context_, blocks_[index]);
        blocks_[index] = Buffer{};
    }
}

void Memory::give(const Heap::Range& range) {
    const std::lock_guard lock(mutex_);
    heap_.give(range);
}

Memory::Usage Memory::usage() const {
    const std::lock_guard lock(mutex_);
    return {heap_.reserved(), heap_.used(), heap_.block_count()};
}

}  // namespace kf::vulkan
