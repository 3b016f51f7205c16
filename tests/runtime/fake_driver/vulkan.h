// A Vulkan driver that misbehaves on demand: the real one, with some functions replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vulkan/functions.h"

namespace kf::test {

/// What goes wrong. One at a time lives; while it lives, entry_point() reaches the real libvulkan.so.1
/// through it. Change the members between calls.
class FakeVulkan {
public:
    FakeVulkan();
    ~FakeVulkan();
    FakeVulkan(const FakeVulkan&) = delete;
    FakeVulkan& operator=(const FakeVulkan&) = delete;

    /// For OpenOptions::get_instance_proc_addr.
    [[nodiscard]] void* entry_point() const;

    VkResult create_instance = VK_SUCCESS;  ///< anything else is returned without a call
    bool no_devices = false;
    std::string missing_feature;    ///< the required feature that is not reported
    std::uint32_t api_version = 0;  ///< of the physical devices, 0 for their own
    std::string missing_function;   ///< vkGetDeviceProcAddr finds no such function
    VkResult create_device = VK_SUCCESS;
    std::uint64_t memory_limit = ~0ULL;   ///< bytes; vkAllocateMemory past it is out of device memory
    std::function<void()> before_memory;  ///< where there is one, called by vkAllocateMemory
    VkResult queue_submit = VK_SUCCESS;
    VkResult wait_semaphores = VK_SUCCESS;
    bool stuck = false;  ///< semaphores say that nothing was done
    VkResult create_pipeline = VK_SUCCESS;
    VkResult begin_command_buffer = VK_SUCCESS;
    bool discrete = false;                 ///< the devices claim to be discrete GPUs
    std::uint32_t max_sampled_images = 0;  ///< of a kernel, 0 for the devices' own

    bool no_extensions = false;  ///< instances are made without any alone

    std::vector<std::string> labels;  ///< over commands
    std::vector<std::string> names;   ///< of objects
    std::size_t allocations = 0;      ///< vkAllocateMemory calls that succeeded
    std::size_t live_memory = 0;      ///< allocations not yet freed
    std::uint64_t live_bytes = 0;
    std::size_t shader_modules = 0;          ///< vkCreateShaderModule calls
    std::vector<std::uint32_t> shader_code;  ///< of the last of those
    std::size_t submits = 0;                 ///< vkQueueSubmit calls that were let through
    std::size_t barriers = 0;                ///< vkCmdPipelineBarrier calls
    std::size_t waits = 0;                   ///< vkWaitSemaphores calls
};

}  // namespace kf::test
