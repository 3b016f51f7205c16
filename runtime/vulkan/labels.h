// Names of objects and commands, for RenderDoc, Nsight and the validation layer: VK_EXT_debug_utils.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vulkan/context.h"

namespace kf::vulkan {

/// Whether some tool may want labels: KF_LABELS says it, else the environment variables by which RenderDoc,
/// Vulkan's layers and NVIDIA's tools are put into a program.
[[nodiscard]] bool labels_wanted();

/// Whether KF_LABELS asks for them.
[[nodiscard]] bool labels_demanded();

/// Names an object of the device's, where tools see names.
template <class Handle>
void name_object(const Context& context, VkObjectType type, Handle handle, const std::string& name) {
    if (context.vk.vkSetDebugUtilsObjectNameEXT == nullptr) return;
    VkDebugUtilsObjectNameInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
    info.objectType = type;
    info.objectHandle = (std::uint64_t)handle;  // NOLINT: a pointer, or a number where those have 32 bits
    info.pObjectName = name.c_str();
    (void)context.vk.vkSetDebugUtilsObjectNameEXT(context.device, &info);
}

/// A label over the commands that are recorded while it lives, where tools see labels.
class CommandLabel {
public:
    CommandLabel(const DeviceFunctions& vk, VkCommandBuffer commands, std::string_view text);
    ~CommandLabel();
    CommandLabel(const CommandLabel&) = delete;
    CommandLabel& operator=(const CommandLabel&) = delete;

private:
    const DeviceFunctions& vk_;
    VkCommandBuffer commands_;
};

}  // namespace kf::vulkan
