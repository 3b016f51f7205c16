// A Vulkan instance, with the validation layer when asked for.
#include "vulkan/instance.h"

#include <kf/error.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "vulkan/labels.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

/// Returns a message whose first line names the rule that was broken: newer layers name it in the last one
/// alone.
std::string text_of(const VkDebugUtilsMessengerCallbackDataEXT& data) {
    std::string text = data.pMessage;
    const std::string rule = data.pMessageIdName == nullptr ? "" : data.pMessageIdName;
    return text.substr(0, text.find('\n')).find(rule) == std::string::npos ? rule + ": " + text : text;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT types,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    if ((types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) != 0 && data->pMessage != nullptr) {
        try {
            static_cast<ValidationLog*>(user)->add(text_of(*data));
        } catch (...) {  // nothing may leave through the layer's C frames
        }
    }
    return VK_FALSE;
}

bool has_layer(const GlobalFunctions& vk, const char* name) {
    std::uint32_t count = 0;
    check(vk.vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
    std::vector<VkLayerProperties> layers(count);
    check(vk.vkEnumerateInstanceLayerProperties(&count, layers.data()), "vkEnumerateInstanceLayerProperties");
    for (const VkLayerProperties& layer : layers) {
        if (std::strcmp(layer.layerName, name) == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool validation_wanted() {
    const char* value = std::getenv("KF_VULKAN_VALIDATION");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

void ValidationLog::add(std::string message) {
    const std::lock_guard lock(mutex_);
    std::fprintf(stderr, "kf: validation: %s\n", message.c_str());
    // A file that must stay empty, for test runners that swallow stderr.
    const char* path = std::getenv("KF_VULKAN_VALIDATION_LOG");
    if (path != nullptr && *path != '\0') {
        if (std::FILE* file = std::fopen(path, "a"); file != nullptr) {
            std::fprintf(file, "%s\n", message.c_str());
            std::fclose(file);
        }
    }
    messages_.push_back(std::move(message));
}

std::vector<std::string> ValidationLog::messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
}

ValidationLog::~ValidationLog() {
    if (!messages_.empty()) {
        std::fprintf(stderr, "kf: %zu validation messages\n", messages_.size());
    }
}

Instance::Instance(std::shared_ptr<Library> library, bool validation)
    : library_(std::move(library)), owned_(true) {
    const GlobalFunctions& vk = library_->functions();
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pEngineName = "kernelfunctions";
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;

    VkDebugUtilsMessengerCreateInfoEXT messenger{};
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType =
        VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = &log_;
    const VkValidationFeatureEnableEXT enabled = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features{};
    features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = &enabled;
    features.pNext = &messenger;
    constexpr std::array extensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    if (validation) {
        if (!has_layer(vk, validation_layer)) {
            throw DeviceError(ErrorCode::no_driver,
                              std::string("vulkan: KF_VULKAN_VALIDATION is set but ") + validation_layer +
                                  " is not installed (Debian, Ubuntu: vulkan-validationlayers)");
        }
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &validation_layer;
    }
    if (validation || labels_wanted()) {
        info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
        info.ppEnabledExtensionNames = extensions.data();
    }

    const VkResult result = [&] {
        const KeepLoaded keep;
        const VkResult created = vk.vkCreateInstance(&info, nullptr, &instance_);
        if (created != VK_ERROR_EXTENSION_NOT_PRESENT || validation) return created;
        info.enabledExtensionCount = 0;  // labels are for tools that can show them
        return vk.vkCreateInstance(&info, nullptr, &instance_);
    }();
    has_labels_ = info.enabledExtensionCount != 0;
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        fail(result, "no Vulkan driver is installed");
    }
    check(result, "vkCreateInstance");
    try {
        functions_ = InstanceFunctions::load(vk.vkGetInstanceProcAddr, instance_);
    } catch (...) {
        const auto destroy =
            reinterpret_cast<PFN_vkDestroyInstance>(vk.vkGetInstanceProcAddr(instance_, "vkDestroyInstance"));
        destroy(instance_, nullptr);
        throw;
    }
    if (validation) {
        const VkResult created =
            functions_.vkCreateDebugUtilsMessengerEXT == nullptr
                ? VK_ERROR_EXTENSION_NOT_PRESENT
                : functions_.vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_);
        if (created < 0) {
            functions_.vkDestroyInstance(instance_, nullptr);
            fail(created, "vkCreateDebugUtilsMessengerEXT failed");
        }
    }
}

Instance::Instance(std::shared_ptr<Library> library, VkInstance instance)
    : library_(std::move(library)),
      instance_(instance),
      has_labels_(labels_demanded()),
      functions_(InstanceFunctions::load(library_->functions().vkGetInstanceProcAddr, instance)) {}

Instance::~Instance() {
    if (messenger_ != VK_NULL_HANDLE) {
        functions_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
    }
    if (owned_) {
        functions_.vkDestroyInstance(instance_, nullptr);
    }
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
    const KeepLoaded keep;
    std::uint32_t count = 0;
    check(functions_.vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(functions_.vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
          "vkEnumeratePhysicalDevices");
    devices.resize(count);
    return devices;
}

}  // namespace kf::vulkan
