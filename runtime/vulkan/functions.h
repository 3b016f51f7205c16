// The Vulkan functions that the driver calls, in one table an object: no globals, no exported vk* symbols.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#define KF_VULKAN_GLOBAL_FUNCTIONS(X)     \
    X(vkCreateInstance)                   \
    X(vkEnumerateInstanceLayerProperties) \
    X(vkEnumerateInstanceExtensionProperties)

#define KF_VULKAN_INSTANCE_FUNCTIONS(X)         \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceProperties2)           \
    X(vkGetPhysicalDeviceFeatures2)             \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkGetPhysicalDeviceFormatProperties)      \
    X(vkGetPhysicalDeviceImageFormatProperties) \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkEnumerateDeviceExtensionProperties)     \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)

#define KF_VULKAN_DEVICE_FUNCTIONS(X) \
    X(vkDestroyDevice)                \
    X(vkGetDeviceQueue)               \
    X(vkQueueSubmit)                  \
    X(vkQueueWaitIdle)                \
    X(vkAllocateMemory)               \
    X(vkFreeMemory)                   \
    X(vkMapMemory)                    \
    X(vkCreateBuffer)                 \
    X(vkDestroyBuffer)                \
    X(vkGetBufferMemoryRequirements)  \
    X(vkBindBufferMemory)             \
    X(vkGetBufferDeviceAddress)       \
    X(vkCreateImage)                  \
    X(vkDestroyImage)                 \
    X(vkGetImageMemoryRequirements)   \
    X(vkBindImageMemory)              \
    X(vkCreateImageView)              \
    X(vkDestroyImageView)             \
    X(vkCreateSampler)                \
    X(vkDestroySampler)               \
    X(vkCreateSemaphore)              \
    X(vkDestroySemaphore)             \
    X(vkGetSemaphoreCounterValue)     \
    X(vkWaitSemaphores)               \
    X(vkCreateShaderModule)           \
    X(vkDestroyShaderModule)          \
    X(vkCreatePipelineCache)          \
    X(vkDestroyPipelineCache)         \
    X(vkCreatePipelineLayout)         \
    X(vkDestroyPipelineLayout)        \
    X(vkCreateDescriptorSetLayout)    \
    X(vkDestroyDescriptorSetLayout)   \
    X(vkCreateDescriptorPool)         \
    X(vkDestroyDescriptorPool)        \
    X(vkResetDescriptorPool)          \
    X(vkAllocateDescriptorSets)       \
    X(vkUpdateDescriptorSets)         \
    X(vkCmdBindDescriptorSets)        \
    X(vkCreateComputePipelines)       \
    X(vkDestroyPipeline)              \
    X(vkCreateCommandPool)            \
    X(vkDestroyCommandPool)           \
    X(vkResetCommandPool)             \
    X(vkAllocateCommandBuffers)       \
    X(vkBeginCommandBuffer)           \
    X(vkEndCommandBuffer)             \
    X(vkCmdBindPipeline)              \
    X(vkCmdPushConstants)             \
    X(vkCmdDispatch)                  \
    X(vkCmdPipelineBarrier)           \
    X(vkCmdFillBuffer)                \
    X(vkCmdCopyBuffer)                \
    X(vkCmdCopyBufferToImage)         \
    X(vkCmdCopyImageToBuffer)         \
    X(vkCmdBlitImage)                 \
    X(vkCreateQueryPool)              \
    X(vkDestroyQueryPool)             \
    X(vkGetQueryPoolResults)          \
    X(vkCmdResetQueryPool)            \
    X(vkCmdWriteTimestamp)

namespace kf::vulkan {

#define KF_VULKAN_MEMBER(name) PFN_##name name = nullptr;

/// Callable without an instance.
struct GlobalFunctions {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
    KF_VULKAN_GLOBAL_FUNCTIONS(KF_VULKAN_MEMBER)

    /// Throws kf::DeviceError where one is missing.
    static GlobalFunctions load(PFN_vkGetInstanceProcAddr get);
};

struct InstanceFunctions {
    KF_VULKAN_INSTANCE_FUNCTIONS(KF_VULKAN_MEMBER)
    PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr;    ///< may be null
    PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;  ///< may be null

    static InstanceFunctions load(PFN_vkGetInstanceProcAddr get, VkInstance instance);
};

/// The device's own entry points, without the loader's dispatch.
struct DeviceFunctions {
    KF_VULKAN_DEVICE_FUNCTIONS(KF_VULKAN_MEMBER)
    // Extensions' functions, null where the device was made without them.
    PFN_vkGetPipelineExecutableStatisticsKHR vkGetPipelineExecutableStatisticsKHR = nullptr;
    PFN_vkGetMemoryHostPointerPropertiesEXT vkGetMemoryHostPointerPropertiesEXT = nullptr;
    PFN_vkGetMemoryFdKHR vkGetMemoryFdKHR = nullptr;
    PFN_vkGetSemaphoreFdKHR vkGetSemaphoreFdKHR = nullptr;
    // Functions of VK_EXT_debug_utils, null where the instance was made without it.
    PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT = nullptr;
    PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT = nullptr;
    PFN_vkCmdEndDebugUtilsLabelEXT vkCmdEndDebugUtilsLabelEXT = nullptr;

    /// `labels`: the instance was made with VK_EXT_debug_utils.
    static DeviceFunctions load(PFN_vkGetDeviceProcAddr get, VkDevice device, bool labels);
};

#undef KF_VULKAN_MEMBER

}  // namespace kf::vulkan
