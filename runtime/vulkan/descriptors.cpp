// Descriptor sets for the resources of a command list's dispatches.
#include "vulkan/descriptors.h"

#include <algorithm>

#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

constexpr std::uint32_t sets_in_pool = 64;
constexpr std::uint32_t buffers_in_pool = 512;

}  // namespace

Descriptors::~Descriptors() {
    if (context_->process.is_here()) {
        for (const Pool& pool : pools_) {
            context_->vk.vkDestroyDescriptorPool(context_->device, pool.handle, nullptr);
        }
    }
}

Descriptors::Pool& Descriptors::pool_for(std::uint32_t buffers) {
    while (current_ < pools_.size()) {
        Pool& pool = pools_[current_];
        if (pool.sets_left != 0 && pool.buffers_left >= buffers) {
            return pool;
        }
        ++current_;
    }
    Pool made;
    made.buffers = std::max(buffers_in_pool, buffers);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, made.buffers};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = sets_in_pool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    pools_.reserve(pools_.size() + 1);
    check(context_->vk.vkCreateDescriptorPool(context_->device, &info, nullptr, &made.handle),
          "vkCreateDescriptorPool");
    made.sets_left = sets_in_pool;
    made.buffers_left = made.buffers;
    pools_.push_back(made);
    return pools_.back();
}

VkDescriptorSet Descriptors::make(VkDescriptorSetLayout layout, std::span<const std::int64_t> numbers,
                                  std::span<const VkDescriptorBufferInfo> buffers) {
    const auto count = static_cast<std::uint32_t>(buffers.size());
    Pool& pool = pool_for(count);
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = pool.handle;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(context_->vk.vkAllocateDescriptorSets(context_->device, &info, &set), "vkAllocateDescriptorSets");
    --pool.sets_left;
    pool.buffers_left -= count;
    writes_.assign(count, {});
    for (std::size_t i = 0; i < writes_.size(); ++i) {
        writes_[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes_[i].dstSet = set;
        writes_[i].dstBinding = static_cast<std::uint32_t>(numbers[i]);
        writes_[i].descriptorCount = 1;
        writes_[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes_[i].pBufferInfo = &buffers[i];
    }
    context_->vk.vkUpdateDescriptorSets(context_->device, count, writes_.data(), 0, nullptr);
    return set;
}

void Descriptors::reset() {
    for (Pool& pool : pools_) {
        check(context_->vk.vkResetDescriptorPool(context_->device, pool.handle, 0), "vkResetDescriptorPool");
        pool.sets_left = sets_in_pool;
        pool.buffers_left = pool.buffers;
    }
    current_ = 0;
}

}  // namespace kf::vulkan
