// A Vulkan instance, with the validation layer when asked for.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/library.h"

namespace kf::vulkan {

/// The validation layer's messages. Thread-safe: the layer calls from whichever thread made the mistake.
class ValidationLog {
public:
    void add(std::string message);
    [[nodiscard]] std::vector<std::string> messages() const;
    /// Prints "kf: N validation messages" to stderr if there were any.
    ~ValidationLog();

private:
    mutable std::mutex mutex_;
    std::vector<std::string> messages_;
};

class Instance {
public:
    /// Creates one. `validation` enables VK_LAYER_KHRONOS_validation (an error where it isn't installed)
    /// and logs what it says.
    Instance(std::shared_ptr<Library> library, bool validation);
    /// Uses the caller's, and doesn't destroy it.
    Instance(std::shared_ptr<Library> library, VkInstance instance);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    [[nodiscard]] VkInstance handle() const { return instance_; }
    [[nodiscard]] const InstanceFunctions& functions() const { return functions_; }
    /// Whether VK_EXT_debug_utils is on. Of the caller's own instance nobody knows but the caller, who says
    /// KF_LABELS=1: drivers may have its functions all the same.
    [[nodiscard]] bool has_labels() const { return has_labels_; }
    [[nodiscard]] std::vector<VkPhysicalDevice> physical_devices() const;
    [[nodiscard]] std::vector<std::string> validation_messages() const { return log_.messages(); }

private:
    std::shared_ptr<Library> library_;
    ValidationLog log_;
    VkInstance instance_ = VK_NULL_HANDLE;
    bool owned_ = false;
    bool has_labels_ = false;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    InstanceFunctions functions_;
};

/// Whether KF_VULKAN_VALIDATION asks for validation (set, and neither empty nor "0").
bool validation_wanted();

}  // namespace kf::vulkan
