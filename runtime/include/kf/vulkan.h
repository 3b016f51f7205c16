// Running on a Vulkan device that the application already has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kf/any_texture.h>
#include <kf/device.h>

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;
struct VkCommandBuffer_T;
struct VkImage_T;

namespace kf {

/// The caller's handles. They must outlive the kf::Device and everything made with it, or `owner` must keep
/// them alive. The instance must be of Vulkan 1.2 or later, the device made with bufferDeviceAddress,
/// scalarBlockLayout and timelineSemaphore enabled, and with what `features` says.
struct VulkanHandles {
    VkInstance_T* instance = nullptr;
    VkPhysicalDevice_T* physical_device = nullptr;
    VkDevice_T* device = nullptr;
    VkQueue_T* queue = nullptr;
    std::uint32_t queue_family = 0;
    /// The words of DeviceInfo::features that were enabled besides those three; empty: all that the physical
    /// device supports.
    std::vector<std::string> features = {};
    /// Called around each use of the queue; needed when the application uses it from other threads.
    std::function<void()> lock_queue = {};
    std::function<void()> unlock_queue = {};
    std::shared_ptr<void> owner = {};
};

/// Throws DeviceError (missing_feature) when the device lacks what the runtime needs, ArgumentError for
/// null handles.
[[nodiscard]] Device adopt(const VulkanHandles& handles);

/// An image of the caller's. It must outlive the texture and the commands that use it, or `owner` must keep
/// it alive. It was made with what the texture is used for: VK_IMAGE_USAGE_SAMPLED_BIT, TRANSFER_SRC and
/// TRANSFER_DST, STORAGE where the shape is writable; for the queue family or for several, of one sample and
/// optimal tiling; of a cube with VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT.
struct VulkanImage {
    VkImage_T* image = nullptr;
    TextureShape shape = {};   ///< as it was made
    std::uint32_t layout = 0;  ///< the VkImageLayout that all of it is in, and is left in behind each batch
    std::shared_ptr<void> owner = {};
};

/// Makes a texture of it: `kf::Texture2D<kf::float4>(kf::adopt(device, image))`. What others do to the image
/// must be done, or come before on the device's queue. Throws ArgumentError: missing_argument for null,
/// device_mismatch for a device that isn't Vulkan's, and what AnyTexture::empty() throws.
[[nodiscard]] AnyTexture adopt(const Device& device, const VulkanImage& image);

/// Keeps the memory of ours that the commands of a finished CommandBufferEncoder use.
class RecordedCommands {
public:
    /// Makes an object that keeps nothing.
    RecordedCommands() = default;

    /// Says that the command buffer is done, and won't be submitted again: what it used may go. Without this
    /// it is kept until the device closes. Later calls do nothing.
    void release();

private:
    friend class CommandBufferEncoder;
    RecordedCommands(std::shared_ptr<detail::DeviceState> device, std::uint64_t commands)
        : device_(std::move(device)), commands_(commands) {}

    std::shared_ptr<detail::DeviceState> device_;
    std::uint64_t commands_ = 0;
};

/// An Encoder whose calls go into a command buffer of the caller's as they are recorded. The command buffer
/// is of the device's VkDevice and queue family, is being recorded, outside of a render pass, and is
/// submitted by the caller, to the device's queue.
///
/// The first call waits for all commands before it, and those after finish() wait for the calls: what either
/// side has written, the other one sees. In between the command buffer is the encoder's alone. It binds
/// compute pipelines, descriptor sets and push constants, which the caller binds anew. Dropped without
/// finish(), it leaves a command buffer that must be reset.
class CommandBufferEncoder : public Encoder {
public:
    /// Throws ArgumentError: missing_argument for null, device_mismatch for a device that isn't Vulkan's.
    CommandBufferEncoder(const Device& device, VkCommandBuffer_T* commands);

    /// Ends the calls; the command buffer stays open. What was issued on the device before goes to its queue
    /// now, and so before the command buffer. The host reads and writes tensors behind what the queue has
    /// when it does, as ever.
    [[nodiscard]] RecordedCommands finish();
    Result<RecordedCommands> try_finish() {
        return attempt([&] { return finish(); });
    }
};

}  // namespace kf
