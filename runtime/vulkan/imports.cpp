// Buffers over memory that others own.
#include "vulkan/imports.h"

#include <kf/error.h>

#include <optional>
#include <string>

namespace kf::vulkan {
namespace {

/// Makes a buffer for memory of that kind; null where the driver doesn't take it.
VkBuffer make_buffer(const Context& context, std::uint64_t size, VkBufferUsageFlags usage,
                     VkExternalMemoryHandleTypeFlagBits kind) {
    VkExternalMemoryBufferCreateInfo external{};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = kind;
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.pNext = &external;
    info.size = size;
    info.usage = usage;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    VkBuffer buffer = VK_NULL_HANDLE;
    const VkResult result = context.vk.vkCreateBuffer(context.device, &info, nullptr, &buffer);
    return result < 0 ? VK_NULL_HANDLE : buffer;
}

/// Allocates what `import` says as the memory of the buffer, in a type of `types`. Returns whether that went
/// well.
bool bind(const Context& context, Buffer& made, const void* import, std::uint32_t types,
          VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred) {
    const DeviceFunctions& vk = context.vk;
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(context.device, made.buffer, &needs);
    const std::optional<std::uint32_t> type =
        context.memory_type(needs.memoryTypeBits & types, required, preferred);
    if (!type || needs.size > made.size) {
        return false;
    }
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.pNext = import;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = &flags;
    allocate.allocationSize = made.size;
    allocate.memoryTypeIndex = *type;
    if (vk.vkAllocateMemory(context.device, &allocate, nullptr, &made.memory) < 0) {
        made.memory = VK_NULL_HANDLE;
        return false;
    }
    return vk.vkBindBufferMemory(context.device, made.buffer, made.memory, 0) >= 0;
}

std::uint64_t address_of(const Context& context, VkBuffer buffer) {
    VkBufferDeviceAddressInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    info.buffer = buffer;
    return context.vk.vkGetBufferDeviceAddress(context.device, &info);
}

}  // namespace

Buffer import_file_memory(const Context& context, int file, std::uint64_t size, VkBufferUsageFlags usage) {
    Buffer made;
    made.size = size;
    made.buffer = make_buffer(context, size, usage, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    if (made.buffer == VK_NULL_HANDLE) {
        return {};
    }
    VkImportMemoryFdInfoKHR import{};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
    import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    import.fd = file;
    if (!bind(context, made, &import, ~0U, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0)) {
        destroy_buffer(context, made);
        return {};
    }
    made.address = address_of(context, made.buffer);
    return made;
}

Buffer make_exportable(const Context& context, std::uint64_t size, VkBufferUsageFlags usage) {
    Buffer made;
    made.size = size;
    made.buffer = make_buffer(context, size, usage, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    VkExportMemoryAllocateInfo exported{};
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (made.buffer == VK_NULL_HANDLE ||
        !bind(context, made, &exported, ~0U, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0)) {
        destroy_buffer(context, made);
        throw DeviceError(ErrorCode::out_of_memory, "vulkan: " + context.physical.info.name +
                                                        " has no memory of " + std::to_string(size) +
                                                        " bytes to share");
    }
    made.address = address_of(context, made.buffer);
    return made;
}

Buffer import_host_memory(const Context& context, std::byte* memory, std::uint64_t size,
                          VkBufferUsageFlags usage) {
    constexpr auto kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT properties{};
    properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    if (context.vk.vkGetMemoryHostPointerPropertiesEXT(context.device, kind, memory, &properties) < 0) {
        return {};
    }
    Buffer made;
    made.size = size;
    made.buffer = make_buffer(context, size, usage, kind);
    if (made.buffer == VK_NULL_HANDLE) {
        return {};
    }
    VkImportMemoryHostPointerInfoEXT import{};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    import.handleType = kind;
    import.pHostPointer = memory;
    if (!bind(context, made, &import, properties.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
              VK_MEMORY_PROPERTY_HOST_CACHED_BIT)) {
        destroy_buffer(context, made);
        return {};
    }
    made.address = address_of(context, made.buffer);
    return made;
}

}  // namespace kf::vulkan
