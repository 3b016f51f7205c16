// Running on a Vulkan device that the application already has.
#pragma once

#include <cstdint>

#include <kf/device.h>

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;

namespace kf {

/// The caller's handles; they must outlive the kf::Device and everything made with it. The queue is used
/// under the device's own lock: when the application submits to it too, that is the application's to
/// synchronise. The device must have been made with Vulkan 1.3, bufferDeviceAddress, scalarBlockLayout,
/// timelineSemaphore and synchronization2 enabled.
struct VulkanHandles {
    VkInstance_T* instance = nullptr;
    VkPhysicalDevice_T* physical_device = nullptr;
    VkDevice_T* device = nullptr;
    VkQueue_T* queue = nullptr;
    std::uint32_t queue_family = 0;
};

/// Throws DeviceError (missing_feature) when the device lacks what the runtime needs.
[[nodiscard]] Device adopt(const VulkanHandles& handles);

}  // namespace kf
