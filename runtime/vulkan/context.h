// A Vulkan device with its queue: what allocations, kernels and command lists all stand on.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "core/process.h"
#include "vulkan/physical.h"

namespace kf::vulkan {

/// Destroyed with its last owner: a tensor may outlive the device that made it. All members are fixed once
/// it is made; Vulkan's own rules say which handles need a lock.
struct Context {
    std::shared_ptr<Instance> instance;
    Physical physical;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    DeviceFunctions vk;
    VkPipelineCache pipeline_cache = VK_NULL_HANDLE;
    VkDescriptorSetLayout block_layout = VK_NULL_HANDLE;  ///< of a parameter block in a uniform buffer
    bool owned = true;                                    ///< destroys the VkDevice
    bool direct_mapping = false;  ///< device memory is mapped and the host's reads and writes of it are fast
    std::shared_ptr<void> owner;  ///< keeps an adopted device alive
    detail::ProcessMark process;  ///< in any other the driver can't be called

    /// A device of our own.
    Context(std::shared_ptr<Instance> instance, Physical physical, bool allow_direct_mapping);
    /// The caller's device.
    Context(std::shared_ptr<Instance> instance, Physical physical, VkDevice device, VkQueue queue,
            std::uint32_t queue_family, std::shared_ptr<void> owner);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// The first type of `allowed` with all of `required` and, if there is one, of `preferred`.
    [[nodiscard]] std::optional<std::uint32_t> memory_type(std::uint32_t allowed,
                                                           VkMemoryPropertyFlags required,
                                                           VkMemoryPropertyFlags preferred) const;

private:
    void start(bool allow_direct_mapping);
};

/// A buffer with memory of its own.
struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t size = 0;
    std::uint64_t address = 0;    ///< where the usage asks for one
    std::byte* mapped = nullptr;  ///< where the memory is visible to the host and coherent
};

/// Throws kf::DeviceError; leaves nothing behind then.
Buffer create_buffer(const Context& context, std::uint64_t size, VkBufferUsageFlags usage,
                     VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred);
void destroy_buffer(const Context& context, const Buffer& buffer);

}  // namespace kf::vulkan
