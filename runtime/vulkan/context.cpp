// A Vulkan device with its queue.
#include "vulkan/context.h"

#include <kf/error.h>

#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

constexpr VkMemoryPropertyFlags host_coherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

}  // namespace

Context::Context(std::shared_ptr<Instance> given_instance, Physical given_physical, bool allow_direct_mapping)
    : instance(std::move(given_instance)), physical(std::move(given_physical)) {
    queue_family = physical.queue_family.value();
    device = create_device(*instance, physical);
    start(allow_direct_mapping);
}

Context::Context(std::shared_ptr<Instance> given_instance, Physical given_physical, VkDevice given_device,
                 VkQueue given_queue, std::uint32_t family, std::shared_ptr<void> given_owner)
    : instance(std::move(given_instance)),
      physical(std::move(given_physical)),
      device(given_device),
      queue(given_queue),
      queue_family(family),
      owned(false),
      owner(std::move(given_owner)) {
    start(true);
}

void Context::start(bool allow_direct_mapping) {
    try {
        vk = DeviceFunctions::load(instance->functions().vkGetDeviceProcAddr, device, instance->has_labels());
        if (owned) {
            vk.vkGetDeviceQueue(device, queue_family, 0, &queue);
        }
        VkPipelineCacheCreateInfo cache{};
        cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
        check(vk.vkCreatePipelineCache(device, &cache, nullptr, &pipeline_cache), "vkCreatePipelineCache");
        VkDescriptorSetLayoutBinding block{};
        block.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
        block.descriptorCount = 1;
        block.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
        VkDescriptorSetLayoutCreateInfo layout{};
        layout.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
        layout.bindingCount = 1;
        layout.pBindings = &block;
        check(vk.vkCreateDescriptorSetLayout(device, &layout, nullptr, &block_layout),
              "vkCreateDescriptorSetLayout");
    } catch (...) {
        if (pipeline_cache != VK_NULL_HANDLE) {
            vk.vkDestroyPipelineCache(device, pipeline_cache, nullptr);
        }
        if (owned) {
            const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(
                instance->functions().vkGetDeviceProcAddr(device, "vkDestroyDevice"));
            destroy(device, nullptr);
        }
        throw;
    }
    // On other devices, the host's way to device memory is a bus: reads are far slower than a copy.
    const auto type = memory_type(
        ~0U, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | host_coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    direct_mapping = allow_direct_mapping && physical.integrated && type.has_value();
}

Context::~Context() {
    vk.vkDestroyDescriptorSetLayout(device, block_layout, nullptr);
    vk.vkDestroyPipelineCache(device, pipeline_cache, nullptr);
    if (owned) {
        vk.vkDestroyDevice(device, nullptr);
    }
}

std::optional<std::uint32_t> Context::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags required,
                                                  VkMemoryPropertyFlags preferred) const {
    const VkPhysicalDeviceMemoryProperties& memory = physical.memory;
    for (const VkMemoryPropertyFlags wanted : {required | preferred, required}) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            if (((allowed >> i) & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
                return i;
            }
        }
    }
    return std::nullopt;
}

Buffer create_buffer(const Context& context, std::uint64_t size, VkBufferUsageFlags usage,
                     VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred) {
    const DeviceFunctions& vk = context.vk;
    Buffer made;
    made.size = size;
    try {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = size;
        info.usage = usage;
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        check(vk.vkCreateBuffer(context.device, &info, nullptr, &made.buffer), "vkCreateBuffer");

        VkMemoryRequirements needs{};
        vk.vkGetBufferMemoryRequirements(context.device, made.buffer, &needs);
        const std::optional<std::uint32_t> type =
            context.memory_type(needs.memoryTypeBits, required, preferred);
        if (!type) {
            throw DeviceError(ErrorCode::driver_failure, "vulkan: no memory type for a buffer");
        }
        const bool addressed = (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
        VkMemoryAllocateFlagsInfo flags{};
        flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.pNext = addressed ? &flags : nullptr;
        allocate.allocationSize = needs.size;
        allocate.memoryTypeIndex = *type;
        check(vk.vkAllocateMemory(context.device, &allocate, nullptr, &made.memory), "vkAllocateMemory");
        check(vk.vkBindBufferMemory(context.device, made.buffer, made.memory, 0), "vkBindBufferMemory");
        if (addressed) {
            VkBufferDeviceAddressInfo address{};
            address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
            address.buffer = made.buffer;
            made.address = vk.vkGetBufferDeviceAddress(context.device, &address);
        }
        const VkMemoryPropertyFlags got = context.physical.memory.memoryTypes[*type].propertyFlags;
        if ((required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 && (got & host_coherent) == host_coherent) {
            void* mapped = nullptr;
            check(vk.vkMapMemory(context.device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
            made.mapped = static_cast<std::byte*>(mapped);
        }
    } catch (...) {
        destroy_buffer(context, made);
        throw;
    }
    return made;
}

void destroy_buffer(const Context& context, const Buffer& buffer) {
    context.vk.vkDestroyBuffer(context.device, buffer.buffer, nullptr);
    context.vk.vkFreeMemory(context.device, buffer.memory, nullptr);
}

}  // namespace kf::vulkan
