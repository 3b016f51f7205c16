// A compute pipeline made from a kernel's SPIR-V image.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/driver.h"
#include "vulkan/context.h"
#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

/// Immutable; keeps the device alive.
class VulkanKernel final : public driver::Kernel {
public:
    /// Checks the features, the group size and the parameter block against the device before it touches
    /// Vulkan. Additions of floats that the device lacks are made of what it has. Throws kf::DeviceError
    /// (missing_feature) naming the kernel and all that is missing, or kf::ArtifactError where the kernel has
    /// no usable SPIR-V.
    VulkanKernel(std::shared_ptr<const Context> context, const manifest::Kernel& kernel);
    ~VulkanKernel() override;
    VulkanKernel(const VulkanKernel&) = delete;
    VulkanKernel& operator=(const VulkanKernel&) = delete;

    [[nodiscard]] const Context* context() const { return context_.get(); }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] VkPipeline pipeline() const { return pipeline_; }
    /// The slots of the samplers that compare. Such a kernel has pipeline_for(), made when it is first
    /// needed; thread-safe.
    [[nodiscard]] const std::vector<std::size_t>& comparing() const { return comparing_; }
    VkPipeline pipeline_for(std::span<const driver::SamplerDescription> samplers) const;
    [[nodiscard]] VkPipelineLayout layout() const { return layout_; }
    [[nodiscard]] std::uint32_t block_size() const { return block_size_; }  ///< bytes
    [[nodiscard]] manifest::Passing passing() const { return passing_; }
    [[nodiscard]] const std::vector<manifest::ResourceSlot>& resources() const { return resources_; }
    /// The resources' numbers in descriptor set resource_set, which is of resource_layout().
    [[nodiscard]] const std::vector<std::int64_t>& resource_numbers() const { return resource_numbers_; }
    [[nodiscard]] const std::vector<VkDescriptorType>& resource_types() const { return resource_types_; }
    [[nodiscard]] VkDescriptorSetLayout resource_layout() const { return resource_layout_; }
    static constexpr std::uint32_t resource_set = 1;

private:
    void create(const manifest::Kernel& kernel, const Words& words);
    void create_resource_layout();
    /// `choices`: four bits of each sampler that compares, from the lowest on.
    VkPipeline make_pipeline(std::uint64_t choices) const;
    void destroy();

    std::shared_ptr<const Context> context_;
    std::string name_;
    std::uint32_t block_size_ = 0;
    manifest::Passing passing_ = manifest::Passing::value;
    std::vector<manifest::ResourceSlot> resources_;
    std::vector<std::int64_t> resource_numbers_;
    std::vector<VkDescriptorType> resource_types_;
    VkDescriptorSetLayout resource_layout_ = VK_NULL_HANDLE;  ///< null where there are none
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    std::string entry_point_;
    bool full_subgroups_ = false;
    VkShaderModule module_ = VK_NULL_HANDLE;  ///< kept for pipelines to come, of kernels that compare
    std::vector<std::size_t> comparing_;
    std::vector<manifest::ChosenConstant> constants_;  ///< with which pipelines are made
    mutable std::mutex mutex_;
    mutable std::map<std::uint64_t, VkPipeline> by_choices_;
};

}  // namespace kf::vulkan
