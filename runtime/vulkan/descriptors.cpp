// Descriptor sets for the resources of a command list's dispatches.
#include "vulkan/descriptors.h"

#include <algorithm>
#include <utility>

#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

constexpr std::uint32_t sets_in_pool = 64;
constexpr std::array pooled_types{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                  VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_SAMPLER,
                                  VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER};
constexpr std::array<std::uint32_t, pooled_types.size()> in_buffer_pool{512, 0, 0, 0, 0};
constexpr std::array<std::uint32_t, pooled_types.size()> in_any_pool{256, 128, 128, 64, 64};

std::size_t index_of(VkDescriptorType type) {
    return static_cast<std::size_t>(std::ranges::find(pooled_types, type) - pooled_types.begin());
}

}  // namespace

Descriptors::~Descriptors() {
    if (context_->process.is_here()) {
        for (const Chain* chain : {&buffers_, &any_}) {
            for (const Pool& pool : chain->pools) {
                context_->vk.vkDestroyDescriptorPool(context_->device, pool.handle, nullptr);
            }
        }
    }
}

Descriptors::Pool Descriptors::make_pool(const Counts& counts) const {
    Pool made;
    made.made = counts;
    std::vector<VkDescriptorPoolSize> sizes;
    for (std::size_t i = 0; i < pooled_types.size(); ++i) {
        if (counts.at(i) != 0) sizes.push_back({pooled_types.at(i), counts.at(i)});
    }
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = sets_in_pool;
    info.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
    info.pPoolSizes = sizes.data();
    check(context_->vk.vkCreateDescriptorPool(context_->device, &info, nullptr, &made.handle),
          "vkCreateDescriptorPool");
    made.sets_left = sets_in_pool;
    made.left = counts;
    return made;
}

Descriptors::Pool& Descriptors::pool_for(const Counts& counts) {
    const bool only_buffers =
        std::ranges::all_of(counts.begin() + 1, counts.end(), [](std::uint32_t count) { return count == 0; });
    Chain& chain = only_buffers ? buffers_ : any_;
    while (chain.current < chain.pools.size()) {
        Pool& pool = chain.pools[chain.current];
        if (pool.sets_left != 0 &&
            std::ranges::equal(pool.left, counts,
                               [](std::uint32_t left, std::uint32_t count) { return left >= count; })) {
            return pool;
        }
        ++chain.current;
    }
    Counts room = only_buffers ? in_buffer_pool : in_any_pool;
    for (std::size_t i = 0; i < room.size(); ++i) room.at(i) = std::max(room.at(i), counts.at(i));
    chain.pools.reserve(chain.pools.size() + 1);
    chain.pools.push_back(make_pool(room));
    return chain.pools.back();
}

VkDescriptorSet Descriptors::make(VkDescriptorSetLayout layout, std::span<const std::int64_t> numbers,
                                  std::span<const Descriptor> descriptors) {
    Recent& recent = recent_[layout];
    for (const Made& known : recent.made) {
        if (known.set != VK_NULL_HANDLE && std::ranges::equal(known.descriptors, descriptors)) {
            return known.set;
        }
    }
    Counts counts{};
    for (const Descriptor& one : descriptors) ++counts.at(index_of(one.type));
    Pool& pool = pool_for(counts);
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = pool.handle;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(context_->vk.vkAllocateDescriptorSets(context_->device, &info, &set), "vkAllocateDescriptorSets");
    --pool.sets_left;
    for (std::size_t i = 0; i < counts.size(); ++i) pool.left.at(i) -= counts.at(i);
    Made& made = recent.made.at(recent.next);
    made.set = VK_NULL_HANDLE;
    made.descriptors.assign(descriptors.begin(), descriptors.end());
    writes_.assign(descriptors.size(), {});
    for (std::size_t i = 0; i < writes_.size(); ++i) {
        writes_[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes_[i].dstSet = set;
        writes_[i].dstBinding = static_cast<std::uint32_t>(numbers[i]);
        writes_[i].descriptorCount = 1;
        writes_[i].descriptorType = descriptors[i].type;
        writes_[i].pBufferInfo = &descriptors[i].buffer;
        writes_[i].pImageInfo = &descriptors[i].image;
    }
    context_->vk.vkUpdateDescriptorSets(context_->device, static_cast<std::uint32_t>(writes_.size()),
                                        writes_.data(), 0, nullptr);
    made.set = set;
    recent.next = (recent.next + 1) % recent.made.size();
    return set;
}

void Descriptors::reset() {
    recent_.clear();
    for (Chain* chain : {&buffers_, &any_}) {
        for (Pool& pool : chain->pools) {
            check(context_->vk.vkResetDescriptorPool(context_->device, pool.handle, 0),
                  "vkResetDescriptorPool");
            pool.sets_left = sets_in_pool;
            pool.left = pool.made;
        }
        chain->current = 0;
    }
}

}  // namespace kf::vulkan
