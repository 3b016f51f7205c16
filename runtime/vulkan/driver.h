// The Vulkan driver: what the runtime's core calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/usable.h"

namespace kf::vulkan {

/// Where Vulkan comes from; the defaults are for everybody but tests.
struct OpenOptions {
    std::string library = "libvulkan.so.1";
    /// A PFN_vkGetInstanceProcAddr to use instead of `library`.
    void* get_instance_proc_addr = nullptr;
    /// Use mapped device memory for transfers where host and device share it; staging is always used
    /// elsewhere.
    bool direct_mapping = true;
};

/// The caller's own Vulkan objects. They must outlive the device and all made with it, or `owner` must
/// keep them alive. The instance must be of Vulkan 1.2 or later, and the device must have been created with
/// bufferDeviceAddress, scalarBlockLayout and timelineSemaphore enabled, and with what `features` says.
struct AdoptedVulkan {
    void* instance = nullptr;
    void* physical_device = nullptr;
    void* device = nullptr;
    void* queue = nullptr;
    std::uint32_t queue_family = 0;
    /// The words of driver::Info::features that were enabled on the device, besides what every adopted one
    /// must have. Vulkan can't be asked; empty means all that the physical device supports.
    std::vector<std::string> features;
    /// Called around each use of the queue; needed when the caller uses it from other threads.
    std::function<void()> lock_queue;
    std::function<void()> unlock_queue;
    std::shared_ptr<void> owner;
};

/// Counts for tests and for messages.
struct Statistics {
    std::uint64_t reserved = 0;     ///< bytes of device memory taken from the driver
    std::uint64_t used = 0;         ///< bytes of it that allocations hold
    std::size_t blocks = 0;         ///< pieces in which it was taken
    std::uint64_t submissions = 0;  ///< vkQueueSubmit calls that succeeded
    // Counts of textures, whose memory is apart.
    std::uint64_t images_reserved = 0;
    std::uint64_t images_used = 0;
    std::size_t image_blocks = 0;
};

/// The devices that can run kernels, in the order of open_vulkan(). When there are none, `why_not` (if
/// given) gets one line that says why. Never throws for want of a driver.
std::vector<driver::Info> enumerate_vulkan(std::string* why_not, const OpenOptions& options = {});

/// Finds the devices, ready to be opened: an instance is created once for finding and opening, which takes
/// longer than most of what follows.
std::vector<driver::Candidate> find_vulkan(std::string& why_not, const OpenOptions& options = {});

/// Throws kf::DeviceError: no_driver, no_device (an index out of range), or the driver's.
std::shared_ptr<driver::Device> open_vulkan(int index, const OpenOptions& options = {});

/// Throws kf::DeviceError (missing_feature) when the physical device can't have what is needed, and
/// kf::ArgumentError for null handles and a queue family that can't compute.
std::shared_ptr<driver::Device> adopt_vulkan(const AdoptedVulkan& adopted, const OpenOptions& options = {});

/// A list of commands for a VkCommandBuffer of the device's, which the caller is recording, outside of a
/// render pass, and submits to the queue that the device uses. The first command waits for all before it.
/// Throws kf::ArgumentError: missing_argument for null, device_mismatch for another backend's device.
std::unique_ptr<driver::Recorder> record_into(driver::Device& device, void* command_buffer);
/// Ends such a list: all after it waits for it. Hands over what was issued on the device before. What the
/// list uses is kept until release() says that the command buffer will not run again, or the device closes,
/// which waits for the queue: so it is where this fails, and no number is returned. Throws kf::ArgumentError
/// (device_mismatch) where the recorder isn't of such a list; the device stays as it was.
std::uint64_t finish(driver::Device& device, std::unique_ptr<driver::Recorder> recorder);
void release(driver::Device& device, std::uint64_t commands);

/// Returns the validation layer's messages about this device so far; none unless the environment variable
/// KF_VULKAN_VALIDATION was set when it was opened. Each message also goes to stderr ("kf: validation: ...")
/// and to the file that KF_VULKAN_VALIDATION_LOG names; "kf: N validation messages" follows when the device
/// closes. No output: no messages.
std::vector<std::string> validation_messages(const driver::Device& device);

Statistics statistics(const driver::Device& device);

}  // namespace kf::vulkan
