// VkResult as text and as an exception.
#include "vulkan/result.h"

#include <kf/error.h>

namespace kf::vulkan {
namespace {

ErrorCode error_code(VkResult result) {
    switch (result) {
        case VK_ERROR_OUT_OF_HOST_MEMORY:
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        case VK_ERROR_TOO_MANY_OBJECTS:
        case VK_ERROR_OUT_OF_POOL_MEMORY: return ErrorCode::out_of_memory;
        case VK_ERROR_DEVICE_LOST: return ErrorCode::device_lost;
        case VK_ERROR_FEATURE_NOT_PRESENT:
        case VK_ERROR_EXTENSION_NOT_PRESENT: return ErrorCode::missing_feature;
        case VK_ERROR_INCOMPATIBLE_DRIVER:
        case VK_ERROR_LAYER_NOT_PRESENT:
        case VK_ERROR_INITIALIZATION_FAILED: return ErrorCode::no_driver;
        default: return ErrorCode::driver_failure;
    }
}

}  // namespace

std::string result_name(VkResult result) {
    switch (result) {
#define KF_CASE(name) \
    case name: return #name;
        KF_CASE(VK_SUCCESS)
        KF_CASE(VK_NOT_READY)
        KF_CASE(VK_TIMEOUT)
        KF_CASE(VK_INCOMPLETE)
        KF_CASE(VK_ERROR_OUT_OF_HOST_MEMORY)
        KF_CASE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        KF_CASE(VK_ERROR_INITIALIZATION_FAILED)
        KF_CASE(VK_ERROR_DEVICE_LOST)
        KF_CASE(VK_ERROR_MEMORY_MAP_FAILED)
        KF_CASE(VK_ERROR_LAYER_NOT_PRESENT)
        KF_CASE(VK_ERROR_EXTENSION_NOT_PRESENT)
        KF_CASE(VK_ERROR_FEATURE_NOT_PRESENT)
        KF_CASE(VK_ERROR_INCOMPATIBLE_DRIVER)
        KF_CASE(VK_ERROR_TOO_MANY_OBJECTS)
        KF_CASE(VK_ERROR_FORMAT_NOT_SUPPORTED)
        KF_CASE(VK_ERROR_FRAGMENTED_POOL)
        KF_CASE(VK_ERROR_UNKNOWN)
        KF_CASE(VK_ERROR_OUT_OF_POOL_MEMORY)
        KF_CASE(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        KF_CASE(VK_ERROR_FRAGMENTATION)
        KF_CASE(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
        KF_CASE(VK_ERROR_INVALID_SHADER_NV)
        KF_CASE(VK_ERROR_VALIDATION_FAILED_EXT)
#undef KF_CASE
        default: return "VkResult " + std::to_string(static_cast<int>(result));
    }
}

void fail(VkResult result, const std::string& what) {
    throw DeviceError(error_code(result), "vulkan: " + what + ": " + result_name(result),
                      static_cast<std::int64_t>(result));
}

void check(VkResult result, const char* function) {
    if (result < 0) {
        fail(result, std::string(function) + " failed");
    }
}

}  // namespace kf::vulkan
