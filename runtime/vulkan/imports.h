// Buffers over memory that others own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vulkan/context.h"

namespace kf::vulkan {

/// The word of driver::Info::features for import_host_memory().
inline constexpr const char* import_host_word = "external_memory_host";

/// The word of driver::Info::features for what vulkan/sharing.h does.
inline constexpr const char* share_files_word = "external_files";

/// Makes a buffer over memory that was exported as an opaque file, which is Vulkan's then. None, with null
/// handles, where the driver doesn't take it.
[[nodiscard]] Buffer import_file_memory(const Context& context, int file, std::uint64_t size,
                                        VkBufferUsageFlags usage);
/// Makes a buffer with memory on the device that can be exported. Throws kf::DeviceError.
[[nodiscard]] Buffer make_exportable(const Context& context, std::uint64_t size, VkBufferUsageFlags usage);

/// Makes a buffer over the host's memory, which begins and ends where the device's alignment of such allows.
/// None, with null handles, where the driver doesn't take it.
[[nodiscard]] Buffer import_host_memory(const Context& context, std::byte* memory, std::uint64_t size,
                                        VkBufferUsageFlags usage);

}  // namespace kf::vulkan
