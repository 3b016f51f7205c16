// Chunks of persistently mapped host memory.
#include "vulkan/host_pool.h"

#include <algorithm>

namespace kf::vulkan {

HostPool::Chunk::~Chunk() { pool_->release(buffer_); }

std::uint64_t HostPool::Chunk::take(std::uint64_t size) {
    const std::uint64_t offset = top_;
    // Blocks hold 8-byte fields and vectors; 64 also keeps two of them off one cache line.
    constexpr std::uint64_t alignment = 64;
    top_ = std::min(buffer_.size, (top_ + size + alignment - 1) / alignment * alignment);
    return offset;
}

HostPool::HostPool(std::shared_ptr<Context> context, Purpose purpose, std::uint64_t chunk_size,
                   std::size_t limit)
    : context_(std::move(context)), purpose_(purpose), chunk_size_(chunk_size), limit_(limit) {
    idle_.reserve(limit);
}

HostPool::~HostPool() {
    for (const Buffer& buffer : idle_) {
        destroy_buffer(*context_, buffer);
    }
}

std::unique_ptr<HostPool::Chunk> HostPool::acquire() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
        if (made_ == limit_) {
            return nullptr;
        }
        VkBufferUsageFlags usage = 0;
        VkMemoryPropertyFlags preferred = 0;
        switch (purpose_) {
            case Purpose::upload: usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT; break;
            case Purpose::read_back:
                usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
                preferred = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
                break;
            case Purpose::parameters:
                usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
                preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
                break;
        }
        idle_.push_back(create_buffer(
            *context_, chunk_size_, usage,
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, preferred));
        ++made_;
    }
    auto chunk = std::make_unique<Chunk>(shared_from_this(), idle_.back());
    idle_.pop_back();
    return chunk;
}

void HostPool::release(const Buffer& buffer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(buffer);  // never grows: the constructor reserved for all there can be
}

}  // namespace kf::vulkan
