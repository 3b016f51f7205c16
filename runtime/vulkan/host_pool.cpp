// Chunks of persistently mapped host memory.
#include "vulkan/host_pool.h"

#include <algorithm>

#include "vulkan/result.h"

namespace kf::vulkan {

HostPool::Chunk::~Chunk() {
    if (pool_->context_->process.is_here()) {
        pool_->release(piece_);
    }
}

std::uint64_t HostPool::Chunk::take(std::uint64_t size) {
    const std::uint64_t offset = top_;
    // Blocks hold 8-byte fields and vectors; 64 also keeps two of them off one cache line.
    const std::uint64_t alignment =
        std::max<std::uint64_t>(64, pool_->context_->physical.limits.uniform_alignment);
    top_ = std::min(piece_.buffer.size, (top_ + size + alignment - 1) / alignment * alignment);
    return offset;
}

HostPool::HostPool(std::shared_ptr<Context> context, Purpose purpose, std::uint64_t chunk_size,
                   std::size_t limit)
    : context_(std::move(context)), purpose_(purpose), chunk_size_(chunk_size), limit_(limit) {
    idle_.reserve(limit);
    if (purpose != Purpose::parameters) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(limit);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, count};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = count;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    check(context_->vk.vkCreateDescriptorPool(context_->device, &info, nullptr, &sets_),
          "vkCreateDescriptorPool");
}

HostPool::~HostPool() {
    for (const Piece& piece : idle_) {
        destroy_buffer(*context_, piece.buffer);
    }
    context_->vk.vkDestroyDescriptorPool(context_->device, sets_, nullptr);
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
                usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
                preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
                break;
        }
        Piece piece{create_buffer(*context_, chunk_size_, usage,
                                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                  preferred)};
        if (purpose_ == Purpose::parameters) {
            try {
                piece.set = make_set(piece.buffer.buffer);
            } catch (...) {
                destroy_buffer(*context_, piece.buffer);
                throw;
            }
        }
        idle_.push_back(piece);
        ++made_;
    }
    auto chunk = std::make_unique<Chunk>(shared_from_this(), idle_.back());
    idle_.pop_back();
    return chunk;
}

VkDescriptorSet HostPool::make_set(VkBuffer buffer) const {
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = sets_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &context_->block_layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(context_->vk.vkAllocateDescriptorSets(context_->device, &info, &set), "vkAllocateDescriptorSets");
    const VkDescriptorBufferInfo block{buffer, 0, manifest::max_uniform_block};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
    write.pBufferInfo = &block;
    context_->vk.vkUpdateDescriptorSets(context_->device, 1, &write, 0, nullptr);
    return set;
}

std::size_t HostPool::available() {
    const std::lock_guard lock(mutex_);
    return idle_.size() + (limit_ - made_);
}

void HostPool::release(const Piece& piece) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(piece);  // never grows: the constructor reserved for all there can be
}

}  // namespace kf::vulkan
