// Samplers, of which equal ones are one.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/images.h"
#include "vulkan/context.h"

namespace kf::vulkan {

class VulkanSampler final : public driver::Sampler {
public:
    /// Throws kf::ArgumentError (value_range), and kf::DeviceError (missing_feature), naming the device.
    VulkanSampler(std::shared_ptr<const Context> context, const driver::SamplerDescription& description);
    ~VulkanSampler() override;
    VulkanSampler(const VulkanSampler&) = delete;
    VulkanSampler& operator=(const VulkanSampler&) = delete;

    [[nodiscard]] VkSampler handle() const { return handle_; }

private:
    std::shared_ptr<const Context> context_;
    VkSampler handle_ = VK_NULL_HANDLE;
};

/// The samplers that are in use: devices have room for few (4,000 at times). Thread-safe.
class Samplers {
public:
    explicit Samplers(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

    std::shared_ptr<VulkanSampler> make(const driver::SamplerDescription& description);

private:
    std::shared_ptr<const Context> context_;
    std::mutex mutex_;
    std::vector<std::pair<driver::SamplerDescription, std::weak_ptr<VulkanSampler>>> made_;
};

}  // namespace kf::vulkan
