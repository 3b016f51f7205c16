// The features and limits of a physical device, in the runtime's words, and how a device is made on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/driver.h"
#include "vulkan/instance.h"

namespace kf::vulkan {

struct Limits {
    std::uint32_t max_group_size[3] = {1, 1, 1};
    std::uint32_t max_group_invocations = 1;
    std::uint64_t max_allocation = 0;  ///< bytes of one vkAllocateMemory and of one buffer
    std::uint32_t max_subgroup_size = 0;
    std::uint64_t buffer_alignment = 256;     ///< bytes, of where a storage buffer begins
    std::uint64_t max_buffer = 0;             ///< bytes of a storage buffer
    std::uint32_t max_buffers = 0;            ///< storage buffers of a kernel
    std::uint64_t uniform_alignment = 256;    ///< bytes, of a block's offset in a uniform buffer
    std::uint32_t resident_subgroups = 0;     ///< of one processor, at most; 0: the driver doesn't say
    bool statistics = false;                  ///< pipelines tell what they need: pipelineExecutableInfo
    bool null_buffers = false;                ///< none can be bound as a buffer: nullDescriptor
    bool full_subgroups = false;              ///< computeFullSubgroups can be enabled
    std::uint64_t host_import_alignment = 1;  ///< bytes, of imported host memory's begin and size
    std::uint32_t max_sampled_images = 0;     ///< of a kernel
    std::uint32_t max_storage_images = 0;
    std::uint32_t max_samplers = 0;
    std::uint32_t max_resources = 0;  ///< buffers and images of a kernel, all kinds together
    float max_anisotropy = 1;
    float max_lod_bias = 0;
    bool graphics = false;  ///< the queue has blits, which make mips
};

struct Physical {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    driver::Info info;  ///< index is left at 0
    Limits limits;
    VkPhysicalDeviceMemoryProperties memory{};
    std::optional<std::uint32_t> queue_family;  ///< one that computes
    std::vector<std::string> lacking;  ///< what the runtime needs and this device hasn't; empty if usable
    bool integrated = false;           ///< shares the host's memory: an integrated GPU or a CPU
};

Physical describe(const Instance& instance, VkPhysicalDevice device);

/// Creates a device with one queue and every feature on that describe() reports.
VkDevice create_device(const Instance& instance, const Physical& physical);

}  // namespace kf::vulkan
