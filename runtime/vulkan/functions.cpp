// Fills the tables of Vulkan functions.
#include "vulkan/functions.h"

#include <kf/error.h>

#include <string>

namespace kf::vulkan {
namespace {

[[noreturn]] void missing(const char* name) {
    throw DeviceError(ErrorCode::no_driver,
                      std::string("vulkan: the driver has no ") + name + "; Vulkan 1.2 is needed");
}

}  // namespace

#define KF_VULKAN_LOAD(name)                                               \
    table.name = reinterpret_cast<PFN_##name>(get(KF_VULKAN_OWNER #name)); \
    if (table.name == nullptr) {                                           \
        missing(#name);                                                    \
    }

#define KF_VULKAN_OWNER nullptr,
GlobalFunctions GlobalFunctions::load(PFN_vkGetInstanceProcAddr get) {
    GlobalFunctions table;
    table.vkGetInstanceProcAddr = get;
    KF_VULKAN_GLOBAL_FUNCTIONS(KF_VULKAN_LOAD)
    return table;
}
#undef KF_VULKAN_OWNER

#define KF_VULKAN_OWNER instance,
InstanceFunctions InstanceFunctions::load(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
    InstanceFunctions table;
    KF_VULKAN_INSTANCE_FUNCTIONS(KF_VULKAN_LOAD)
    table.vkCreateDebugUtilsMessengerEXT =
        reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(get(instance, "vkCreateDebugUtilsMessengerEXT"));
    table.vkDestroyDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        get(instance, "vkDestroyDebugUtilsMessengerEXT"));
    return table;
}
#undef KF_VULKAN_OWNER

#define KF_VULKAN_OWNER device,
DeviceFunctions DeviceFunctions::load(PFN_vkGetDeviceProcAddr get, VkDevice device, bool labels) {
    DeviceFunctions table;
    KF_VULKAN_DEVICE_FUNCTIONS(KF_VULKAN_LOAD)
    table.vkGetPipelineExecutableStatisticsKHR = reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
        get(device, "vkGetPipelineExecutableStatisticsKHR"));
    table.vkGetMemoryHostPointerPropertiesEXT = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
        get(device, "vkGetMemoryHostPointerPropertiesEXT"));
    table.vkGetMemoryFdKHR = reinterpret_cast<PFN_vkGetMemoryFdKHR>(get(device, "vkGetMemoryFdKHR"));
    table.vkGetSemaphoreFdKHR = reinterpret_cast<PFN_vkGetSemaphoreFdKHR>(get(device, "vkGetSemaphoreFdKHR"));
    if (!labels) return table;
    table.vkSetDebugUtilsObjectNameEXT =
        reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(get(device, "vkSetDebugUtilsObjectNameEXT"));
    const auto begin =
        reinterpret_cast<PFN_vkCmdBeginDebugUtilsLabelEXT>(get(device, "vkCmdBeginDebugUtilsLabelEXT"));
    table.vkCmdEndDebugUtilsLabelEXT =
        reinterpret_cast<PFN_vkCmdEndDebugUtilsLabelEXT>(get(device, "vkCmdEndDebugUtilsLabelEXT"));
    table.vkCmdBeginDebugUtilsLabelEXT = table.vkCmdEndDebugUtilsLabelEXT == nullptr ? nullptr : begin;
    return table;
}
#undef KF_VULKAN_OWNER
#undef KF_VULKAN_LOAD

}  // namespace kf::vulkan
