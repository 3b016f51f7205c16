// The Vulkan driver: what the runtime's core calls.
#include "vulkan/driver.h"

#include <kf/error.h>

#include <algorithm>
#include <cstring>

#include "core/join.h"
#include "core/usable.h"
#include "vulkan/device.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

std::shared_ptr<Library> open_library(const OpenOptions& options) {
    if (options.get_instance_proc_addr != nullptr) {
        return std::make_shared<Library>(
            reinterpret_cast<PFN_vkGetInstanceProcAddr>(options.get_instance_proc_addr));
    }
    return std::make_shared<Library>(options.library);
}

/// Whether every adopted device has it: a feature without which none is adopted, or a property, which nobody
/// enables.
bool needs_no_word(const std::string& word) {
    return word == "buffer_device_address" || word == "scalar_layout" || word == "denorm_preserve" ||
           word.starts_with("subgroup_");
}

/// The usable devices, with their indices; where there are none, `why_not` says why.
std::vector<Physical> usable(const Instance& instance, std::string& why_not) {
    std::vector<Physical> all;
    for (const VkPhysicalDevice device : instance.physical_devices())
        all.push_back(describe(instance, device));
    return driver::usable(std::move(all), "vulkan: the drivers find no device", why_not);
}

}  // namespace

std::vector<driver::Info> enumerate_vulkan(std::string* why_not, const OpenOptions& options) {
    return driver::infos_of(
        [&](std::string& reason) { return usable(Instance(open_library(options), false), reason); }, why_not);
}

namespace {

std::shared_ptr<driver::Device> open(std::shared_ptr<Instance> instance, Physical physical,
                                     bool direct_mapping) {
    driver::Info info = physical.info;
    auto context = std::make_shared<Context>(std::move(instance), std::move(physical), direct_mapping);
    return std::make_shared<VulkanDevice>(std::move(context), std::move(info), nullptr, nullptr);
}

}  // namespace

std::vector<driver::Candidate> find_vulkan(std::string& why_not, const OpenOptions& options) {
    const auto find = [&](std::string& reason) {
        const auto instance = std::make_shared<Instance>(open_library(options), validation_wanted());
        std::vector<driver::Candidate> found;
        for (Physical& physical : usable(*instance, reason)) {
            found.push_back({physical.info, [instance, physical, direct = options.direct_mapping] {
                                 return open(instance, physical, direct);
                             }});
        }
        return found;
    };
    return driver::candidates_of(find, why_not);
}

std::shared_ptr<driver::Device> open_vulkan(int index, const OpenOptions& options) {
    auto instance = std::make_shared<Instance>(open_library(options), validation_wanted());
    std::string why_not;
    std::vector<Physical> devices = usable(*instance, why_not);
    Physical& physical = driver::device_at(devices, index, why_not);
    return open(std::move(instance), std::move(physical), options.direct_mapping);
}

std::shared_ptr<driver::Device> adopt_vulkan(const AdoptedVulkan& adopted, const OpenOptions& options) {
    if (adopted.instance == nullptr || adopted.physical_device == nullptr || adopted.device == nullptr ||
        adopted.queue == nullptr) {
        throw ArgumentError(ErrorCode::missing_argument,
                            "vulkan: an adopted instance, physical device, device or queue is null");
    }
    auto instance =
        std::make_shared<Instance>(open_library(options), static_cast<VkInstance>(adopted.instance));
    Physical physical = describe(*instance, static_cast<VkPhysicalDevice>(adopted.physical_device));
    if (!physical.lacking.empty()) {
        throw DeviceError(ErrorCode::missing_feature,
                          "vulkan: " + physical.info.name + " lacks " + join(physical.lacking));
    }
    std::uint32_t count = 0;
    instance->functions().vkGetPhysicalDeviceQueueFamilyProperties(physical.handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    instance->functions().vkGetPhysicalDeviceQueueFamilyProperties(physical.handle, &count, families.data());
    if (adopted.queue_family >= count ||
        (families[adopted.queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
        throw ArgumentError(ErrorCode::value_range, "vulkan: queue family " +
                                                        std::to_string(adopted.queue_family) + " of " +
                                                        physical.info.name + " can't compute");
    }
    if (!adopted.features.empty()) {
        std::vector<std::string> enabled = adopted.features;
        std::sort(enabled.begin(), enabled.end());
        std::vector<std::string>& offered = physical.info.features;
        std::erase_if(offered, [&enabled](const std::string& word) {
            return !needs_no_word(word) && !std::binary_search(enabled.begin(), enabled.end(), word);
        });
    }
    physical.limits.graphics = (families[adopted.queue_family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    // Unless the caller enabled them, requiring full subgroups and binding null would be invalid, and that
    // can't be asked.
    physical.limits.full_subgroups = false;
    physical.limits.null_buffers = false;
    driver::Info info = physical.info;
    auto context = std::make_shared<Context>(
        std::move(instance), std::move(physical), static_cast<VkDevice>(adopted.device),
        static_cast<VkQueue>(adopted.queue), adopted.queue_family, adopted.owner);
    return std::make_shared<VulkanDevice>(std::move(context), std::move(info), adopted.lock_queue,
                                          adopted.unlock_queue);
}

namespace {

VulkanDevice& vulkan_device(driver::Device& device) {
    auto* ours = dynamic_cast<VulkanDevice*>(&device);
    if (ours == nullptr) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            "a Vulkan command buffer takes calls of a Vulkan "
                            "device, not of " +
                                device.info().backend + " (" + device.info().name + ")");
    }
    return *ours;
}

}  // namespace

std::unique_ptr<driver::Recorder> record_into(driver::Device& device, void* command_buffer) {
    VulkanDevice& ours = vulkan_device(device);
    if (command_buffer == nullptr) {
        throw ArgumentError(ErrorCode::missing_argument, "vulkan: the command buffer to record into is null");
    }
    return ours.record_into(static_cast<VkCommandBuffer>(command_buffer));
}

std::uint64_t finish(driver::Device& device, std::unique_ptr<driver::Recorder> recorder) {
    return vulkan_device(device).finish(std::move(recorder));
}

void release(driver::Device& device, std::uint64_t commands) { vulkan_device(device).release(commands); }

std::vector<std::string> validation_messages(const driver::Device& device) {
    const auto* ours = dynamic_cast<const VulkanDevice*>(&device);
    return ours == nullptr ? std::vector<std::string>{} : ours->validation_messages();
}

Statistics statistics(const driver::Device& device) {
    const auto* ours = dynamic_cast<const VulkanDevice*>(&device);
    return ours == nullptr ? Statistics{} : ours->statistics();
}

}  // namespace kf::vulkan
