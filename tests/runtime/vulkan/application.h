// An application's own Vulkan, with the validation layer on: a device and queue to adopt, and command
// buffers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/instance.h"

namespace kf::test {

class VulkanApplication {
public:
    VulkanApplication() : instance_(std::make_shared<vulkan::Library>("libvulkan.so.1"), true) {
        physical_ = instance_.physical_devices().front();
        VkPhysicalDeviceVulkan12Features features12{};
        features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        features12.bufferDeviceAddress = VK_TRUE;
        features12.scalarBlockLayout = VK_TRUE;
        features12.timelineSemaphore = VK_TRUE;
        VkPhysicalDeviceRobustness2FeaturesEXT robustness{};
        robustness.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
        robustness.robustImageAccess2 = VK_TRUE;
        features12.pNext = &robustness;
        VkPhysicalDeviceFeatures2 features{};
        features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        features.pNext = &features12;
        features.features.shaderInt64 = VK_TRUE;
        features.features.shaderStorageImageWriteWithoutFormat = VK_TRUE;
        constexpr const char* extension = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
        const float priority = 1;
        VkDeviceQueueCreateInfo queue{};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        VkDeviceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        info.pNext = &features;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = &extension;
        const vulkan::InstanceFunctions& functions = instance_.functions();
        EXPECT_EQ(functions.vkCreateDevice(physical_, &info, nullptr, &device_), VK_SUCCESS);
        vk = vulkan::DeviceFunctions::load(functions.vkGetDeviceProcAddr, device_, false);
        vk.vkGetDeviceQueue(device_, 0, 0, &queue_);
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        EXPECT_EQ(vk.vkCreateCommandPool(device_, &pool, nullptr, &pool_), VK_SUCCESS);
    }
    ~VulkanApplication() {
        vk.vkDestroyCommandPool(device_, pool_, nullptr);
        vk.vkDestroyDevice(device_, nullptr);
        EXPECT_THAT(messages(), ::testing::IsEmpty());
    }
    VulkanApplication(const VulkanApplication&) = delete;
    VulkanApplication& operator=(const VulkanApplication&) = delete;

    [[nodiscard]] VkInstance instance() const { return instance_.handle(); }
    [[nodiscard]] VkPhysicalDevice physical_device() const { return physical_; }
    [[nodiscard]] VkDevice device() const { return device_; }
    [[nodiscard]] VkQueue queue() const { return queue_; }
    /// The words of what is enabled.
    [[nodiscard]] static std::vector<std::string> features() {
        return {"int64", "robust_images", "storage_image_write_any"};
    }
    [[nodiscard]] std::vector<std::string> messages() const { return instance_.validation_messages(); }

    /// A command buffer that is being recorded; it goes with the application.
    [[nodiscard]] VkCommandBuffer begin() const {
        VkCommandBufferAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        info.commandPool = pool_;
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        EXPECT_EQ(vk.vkAllocateCommandBuffers(device_, &info, &commands), VK_SUCCESS);
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        EXPECT_EQ(vk.vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
        return commands;
    }
    void end(VkCommandBuffer commands) const { EXPECT_EQ(vk.vkEndCommandBuffer(commands), VK_SUCCESS); }
    void submit(VkCommandBuffer commands) const {
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        EXPECT_EQ(vk.vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    }
    void wait() const { EXPECT_EQ(vk.vkQueueWaitIdle(queue_), VK_SUCCESS); }

    /// A buffer for every use that foreign memory needs, which `owner` destroys.
    [[nodiscard]] VkBuffer make_buffer(VkDeviceSize size, std::shared_ptr<void>& owner,
                                       std::function<void()> destroyed = {}) const {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = size;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        VkBuffer buffer = VK_NULL_HANDLE;
        EXPECT_EQ(vk.vkCreateBuffer(device_, &info, nullptr, &buffer), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.vkGetBufferMemoryRequirements(device_, buffer, &needs);
        VkMemoryAllocateFlagsInfo flags{};
        flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.pNext = &flags;
        allocate.allocationSize = needs.size;
        while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1U) == 0) {
            ++allocate.memoryTypeIndex;
        }
        VkDeviceMemory memory = VK_NULL_HANDLE;
        EXPECT_EQ(vk.vkAllocateMemory(device_, &allocate, nullptr, &memory), VK_SUCCESS);
        EXPECT_EQ(vk.vkBindBufferMemory(device_, buffer, memory, 0), VK_SUCCESS);
        owner =
            std::shared_ptr<void>(nullptr, [this, buffer, memory, destroyed = std::move(destroyed)](void*) {
                vk.vkDestroyBuffer(device_, buffer, nullptr);
                vk.vkFreeMemory(device_, memory, nullptr);
                if (destroyed) destroyed();
            });
        return buffer;
    }

    /// An image of one float a texel for every use that foreign ones need, in no layout, which `owner`
    /// destroys.
    [[nodiscard]] VkImage make_image(std::uint32_t width, std::uint32_t height, std::shared_ptr<void>& owner,
                                     std::function<void()> destroyed = {}) const {
        VkImageCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = VK_FORMAT_R32_SFLOAT;
        info.extent = {width, height, 1};
        info.mipLevels = 1;
        info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        VkImage image = VK_NULL_HANDLE;
        EXPECT_EQ(vk.vkCreateImage(device_, &info, nullptr, &image), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.vkGetImageMemoryRequirements(device_, image, &needs);
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.allocationSize = needs.size;
        while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1U) == 0) {
            ++allocate.memoryTypeIndex;
        }
        VkDeviceMemory memory = VK_NULL_HANDLE;
        EXPECT_EQ(vk.vkAllocateMemory(device_, &allocate, nullptr, &memory), VK_SUCCESS);
        EXPECT_EQ(vk.vkBindImageMemory(device_, image, memory, 0), VK_SUCCESS);
        owner =
            std::shared_ptr<void>(nullptr, [this, image, memory, destroyed = std::move(destroyed)](void*) {
                vk.vkDestroyImage(device_, image, nullptr);
                vk.vkFreeMemory(device_, memory, nullptr);
                if (destroyed) destroyed();
            });
        return image;
    }
    /// Records that the image changes its layout, between all that comes before and after.
    void change_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) const {
        VkImageMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    }

    vulkan::DeviceFunctions vk;

private:
    vulkan::Instance instance_;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
};

}  // namespace kf::test
