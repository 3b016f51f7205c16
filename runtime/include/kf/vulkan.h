// Running on a Vulkan device that the application already has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kf/device.h>

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;

namespace kf {

/// The caller's handles. They must outlive the kf::Device and everything made with it, or `owner` must keep
/// them alive. The instance must be of Vulkan 1.2 or later, the device made with bufferDeviceAddress,
/// scalarBlockLayout and timelineSemaphore enabled, and with what `features` says.
struct VulkanHandles {
    VkInstance_T* instance = nullptr;
    VkPhysicalDevice_T* physical_device = nullptr;
    VkDevice_T* device = nullptr;
    VkQueue_T* queue = nullptr;
    std::uint32_t queue_family = 0;
    /// The words of DeviceInfo::features that were enabled besides those three; empty: all that the physical
    /// device supports.
    std::vector<std::string> features;
    /// Called around each use of the queue; needed when the application uses it from other threads.
    std::function<void()> lock_queue;
    std::function<void()> unlock_queue;
    std::shared_ptr<void> owner;
};

/// Throws DeviceError (missing_feature) when the device lacks what the runtime needs, ArgumentError for
/// null handles.
[[nodiscard]] Device adopt(const VulkanHandles& handles);

}  // namespace kf
