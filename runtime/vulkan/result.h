// VkResult as text and as an exception.
#pragma once

#include <string>

#include "vulkan/functions.h"

namespace kf::vulkan {

/// "VK_ERROR_DEVICE_LOST"; "VkResult -1234" for what this header doesn't know.
std::string result_name(VkResult result);

/// Throws kf::DeviceError ("vulkan: vkQueueSubmit failed: VK_ERROR_DEVICE_LOST") for negative results.
void check(VkResult result, const char* function);

[[noreturn]] void fail(VkResult result, const std::string& what);

}  // namespace kf::vulkan
