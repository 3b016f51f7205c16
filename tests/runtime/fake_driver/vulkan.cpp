// A Vulkan driver that misbehaves on demand.
#include "runtime/fake_driver/vulkan.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

namespace kf::test {
namespace {

// Vulkan's functions carry no user data, so the state can only be global.
FakeVulkan* fake = nullptr;
PFN_vkGetInstanceProcAddr real_instance_proc = nullptr;
PFN_vkGetDeviceProcAddr real_device_proc = nullptr;
VkInstance instance_in_use = VK_NULL_HANDLE;
std::mutex mutex;
std::map<VkDeviceMemory, VkDeviceSize> memory_sizes;

/// The real function; its address is looked up each time, which is slow and always right.
template <class Function>
Function instance_function(const char* name) {
    return reinterpret_cast<Function>(real_instance_proc(instance_in_use, name));
}
template <class Function>
Function device_function(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(real_device_proc(device, name));
}

VkDevice device_in_use = VK_NULL_HANDLE;

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
    if (fake->create_instance != VK_SUCCESS) {
        return fake->create_instance;
    }
    if (fake->no_extensions && info->enabledExtensionCount != 0) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    const auto real = reinterpret_cast<PFN_vkCreateInstance>(real_instance_proc(nullptr, "vkCreateInstance"));
    const VkResult result = real(info, callbacks, instance);
    instance_in_use = *instance;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(VkInstance instance, std::uint32_t* count,
                                                 VkPhysicalDevice* devices) {
    if (fake->no_devices) {
        *count = 0;
        return VK_SUCCESS;
    }
    return instance_function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance, count,
                                                                                           devices);
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties* found) {
    instance_function<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties")(device, found);
    if (fake->api_version != 0) {
        found->apiVersion = fake->api_version;
    }
    if (fake->discrete) {
        found->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    }
    if (fake->max_sampled_images != 0) {
        found->limits.maxPerStageDescriptorSampledImages = fake->max_sampled_images;
    }
}

VKAPI_ATTR void VKAPI_CALL features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* features) {
    instance_function<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2")(device, features);
    for (auto* next = static_cast<VkBaseOutStructure*>(features->pNext); next != nullptr;
         next = next->pNext) {
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            auto& v12 = *reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(next);
            if (fake->missing_feature == "bufferDeviceAddress") {
                v12.bufferDeviceAddress = VK_FALSE;
            } else if (fake->missing_feature == "scalarBlockLayout") {
                v12.scalarBlockLayout = VK_FALSE;
            } else if (fake->missing_feature == "timelineSemaphore") {
                v12.timelineSemaphore = VK_FALSE;
            }
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
    if (fake->create_device != VK_SUCCESS) {
        return fake->create_device;
    }
    const VkResult result =
        instance_function<PFN_vkCreateDevice>("vkCreateDevice")(physical, info, callbacks, device);
    device_in_use = *device;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDeviceMemory* memory) {
    if (fake->before_memory) {
        fake->before_memory();
    }
    const std::lock_guard lock(mutex);
    if (info->allocationSize > fake->memory_limit ||
        fake->live_bytes > fake->memory_limit - info->allocationSize) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const VkResult result =
        device_function<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(device, info, callbacks, memory);
    if (result == VK_SUCCESS) {
        ++fake->allocations;
        ++fake->live_memory;
        fake->live_bytes += info->allocationSize;
        memory_sizes[*memory] = info->allocationSize;
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
    const std::lock_guard lock(mutex);
    if (const auto found = memory_sizes.find(memory); found != memory_sizes.end()) {
        fake->live_bytes -= found->second;
        --fake->live_memory;
        memory_sizes.erase(found);
    }
    device_function<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos,
                                            VkFence fence) {
    if (fake->queue_submit != VK_SUCCESS) {
        return fake->queue_submit;
    }
    ++fake->submits;
    return device_function<PFN_vkQueueSubmit>(device_in_use, "vkQueueSubmit")(queue, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL get_semaphore_counter_value(VkDevice device, VkSemaphore semaphore,
                                                           std::uint64_t* value) {
    const VkResult result = device_function<PFN_vkGetSemaphoreCounterValue>(
        device, "vkGetSemaphoreCounterValue")(device, semaphore, value);
    if (fake->stuck) {
        *value = 0;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                               std::uint64_t timeout) {
    ++fake->waits;
    const VkResult result =
        device_function<PFN_vkWaitSemaphores>(device, "vkWaitSemaphores")(device, info, timeout);
    return fake->wait_semaphores != VK_SUCCESS ? fake->wait_semaphores : result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkShaderModule* module) {
    ++fake->shader_modules;
    fake->shader_code.assign(info->pCode, info->pCode + info->codeSize / sizeof(std::uint32_t));
    return device_function<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, info, callbacks,
                                                                                     module);
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* callbacks,
                                                VkPipeline* pipelines) {
    if (fake->create_pipeline != VK_SUCCESS) {
        return fake->create_pipeline;
    }
    return device_function<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines")(
        device, cache, count, infos, callbacks, pipelines);
}

VKAPI_ATTR VkResult VKAPI_CALL begin_command_buffer(VkCommandBuffer buffer,
                                                    const VkCommandBufferBeginInfo* info) {
    if (fake->begin_command_buffer != VK_SUCCESS) {
        return fake->begin_command_buffer;
    }
    return device_function<PFN_vkBeginCommandBuffer>(device_in_use, "vkBeginCommandBuffer")(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL pipeline_barrier(VkCommandBuffer buffer, VkPipelineStageFlags from,
                                            VkPipelineStageFlags to, VkDependencyFlags flags,
                                            std::uint32_t memory_count, const VkMemoryBarrier* memory,
                                            std::uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
                                            std::uint32_t image_count, const VkImageMemoryBarrier* images) {
    ++fake->barriers;
    device_function<PFN_vkCmdPipelineBarrier>(device_in_use, "vkCmdPipelineBarrier")(
        buffer, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* info) {
    fake->names.emplace_back(info->pObjectName);
    return device_function<PFN_vkSetDebugUtilsObjectNameEXT>(device, "vkSetDebugUtilsObjectNameEXT")(device,
                                                                                                     info);
}

VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer buffer, const VkDebugUtilsLabelEXT* label) {
    fake->labels.emplace_back(label->pLabelName);
    device_function<PFN_vkCmdBeginDebugUtilsLabelEXT>(device_in_use, "vkCmdBeginDebugUtilsLabelEXT")(buffer,
                                                                                                     label);
}

PFN_vkVoidFunction replaced(const char* name) {
    struct Entry {
        const char* name;
        PFN_vkVoidFunction function;
    };
#define KF_ENTRY(name, function) \
    Entry { name, reinterpret_cast<PFN_vkVoidFunction>(function) }
    const Entry entries[] = {
        KF_ENTRY("vkCreateInstance", create_instance),
        KF_ENTRY("vkEnumeratePhysicalDevices", enumerate_devices),
        KF_ENTRY("vkGetPhysicalDeviceProperties", properties),
        KF_ENTRY("vkGetPhysicalDeviceFeatures2", features2),
        KF_ENTRY("vkCreateDevice", create_device),
        KF_ENTRY("vkAllocateMemory", allocate_memory),
        KF_ENTRY("vkFreeMemory", free_memory),
        KF_ENTRY("vkQueueSubmit", queue_submit),
        KF_ENTRY("vkWaitSemaphores", wait_semaphores),
        KF_ENTRY("vkGetSemaphoreCounterValue", get_semaphore_counter_value),
        KF_ENTRY("vkCreateShaderModule", create_shader_module),
        KF_ENTRY("vkCreateComputePipelines", create_pipelines),
        KF_ENTRY("vkBeginCommandBuffer", begin_command_buffer),
        KF_ENTRY("vkCmdPipelineBarrier", pipeline_barrier),
        KF_ENTRY("vkSetDebugUtilsObjectNameEXT", set_name),
        KF_ENTRY("vkCmdBeginDebugUtilsLabelEXT", begin_label),
    };
#undef KF_ENTRY
    for (const Entry& entry : entries) {
        if (std::strcmp(entry.name, name) == 0) {
            return entry.function;
        }
    }
    return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    if (fake->missing_function == name) {
        return nullptr;
    }
    const PFN_vkVoidFunction function = replaced(name);
    return function != nullptr ? function : real_device_proc(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_device_proc = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real_instance_proc(instance, name));
        return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
    }
    const PFN_vkVoidFunction function = replaced(name);
    return function != nullptr ? function : real_instance_proc(instance, name);
}

}  // namespace

FakeVulkan::FakeVulkan() {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr || fake != nullptr) {
        throw std::runtime_error("the fake driver needs libvulkan.so.1, and is one at a time");
    }
    real_instance_proc = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    fake = this;
}

FakeVulkan::~FakeVulkan() { fake = nullptr; }

void* FakeVulkan::entry_point() const { return reinterpret_cast<void*>(instance_proc); }

}  // namespace kf::test
