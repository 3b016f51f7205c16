// The times at which the GPU came to places in command lists.
#include "vulkan/timestamps.h"

#include <utility>
#include <vector>

#include "vulkan/result.h"

namespace kf::vulkan {

QueryPool::QueryPool(std::shared_ptr<const Context> context) : context_(std::move(context)) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = size;
    check(context_->vk.vkCreateQueryPool(context_->device, &info, nullptr, &handle_), "vkCreateQueryPool");
}

QueryPool::~QueryPool() {
    if (context_->process.is_here()) context_->vk.vkDestroyQueryPool(context_->device, handle_, nullptr);
}

void VulkanTimestamp::write(VkCommandBuffer commands) const {
    const DeviceFunctions& vk = pool_->context().vk;
    vk.vkCmdResetQueryPool(commands, pool_->handle(), index_, 1);
    vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_->handle(), index_);
}

std::uint64_t VulkanTimestamp::ticks() const {
    const Context& context = pool_->context();
    std::uint64_t ticks = 0;
    check(context.vk.vkGetQueryPoolResults(context.device, pool_->handle(), index_, 1, sizeof ticks, &ticks,
                                           sizeof ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    return ticks;
}

Timestamps::Timestamps(std::shared_ptr<const Context> context) : context_(std::move(context)) {
    const InstanceFunctions& vk = context_->instance->functions();
    const VkPhysicalDevice device = context_->physical.handle;
    std::uint32_t count = 0;
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    bits_ = families.at(context_->queue_family).timestampValidBits;
    VkPhysicalDeviceProperties properties{};
    vk.vkGetPhysicalDeviceProperties(device, &properties);
    period_ = static_cast<double>(properties.limits.timestampPeriod);
}

std::shared_ptr<VulkanTimestamp> Timestamps::make() {
    if (bits_ == 0) return nullptr;
    if (next_ == QueryPool::size) {
        pool_ = std::make_shared<const QueryPool>(context_);
        next_ = 0;
    }
    return std::make_shared<VulkanTimestamp>(pool_, next_++);
}

double Timestamps::nanoseconds(const VulkanTimestamp& from, const VulkanTimestamp& to) const {
    // Where fewer bits count, the clock begins anew now and then.
    const std::uint64_t mask = bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
    return static_cast<double>((to.ticks() - from.ticks()) & mask) * period_;
}

}  // namespace kf::vulkan
