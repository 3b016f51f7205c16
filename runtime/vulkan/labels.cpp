// Names of objects and commands, for tools.
#include "vulkan/labels.h"

#include <cstdlib>

namespace kf::vulkan {
namespace {

bool is_set(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

bool labels_demanded() { return is_set("KF_LABELS"); }

bool labels_wanted() {
    if (std::getenv("KF_LABELS") != nullptr) return labels_demanded();
    for (const char* variable : {"ENABLE_VULKAN_RENDERDOC_CAPTURE", "VK_INSTANCE_LAYERS",
                                 "VK_LOADER_LAYERS_ENABLE", "NVTX_INJECTION64_PATH"}) {
        if (is_set(variable)) return true;
    }
    return false;
}

CommandLabel::CommandLabel(const DeviceFunctions& vk, VkCommandBuffer commands, std::string_view text)
    : vk_(vk), commands_(commands) {
    if (vk_.vkCmdBeginDebugUtilsLabelEXT == nullptr) return;
    const std::string ended(text);
    VkDebugUtilsLabelEXT label{};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
    label.pLabelName = ended.c_str();
    vk_.vkCmdBeginDebugUtilsLabelEXT(commands_, &label);
}

CommandLabel::~CommandLabel() {
    if (vk_.vkCmdBeginDebugUtilsLabelEXT != nullptr) vk_.vkCmdEndDebugUtilsLabelEXT(commands_);
}

}  // namespace kf::vulkan
