// Images of the device's, and of somebody else's, with the views that kernels have of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "core/images.h"
#include "vulkan/image_memory.h"
#include "vulkan/image_states.h"

namespace kf::vulkan {

/// Command lists own what they use until the GPU is done. Each finds the image in its resting layout, and
/// leaves it so: what is recorded can run in any order, and often.
class VulkanImage final : public driver::Image {
public:
    ~VulkanImage() override;

    [[nodiscard]] VkImage handle() const { return handle_; }
    [[nodiscard]] VkImageLayout resting_layout() const { return resting_; }
    [[nodiscard]] bool is_foreign() const { return is_foreign_; }
    /// Returns the device's features for the image's format.
    [[nodiscard]] VkFormatFeatureFlags features() const { return features_; }
    /// Returns the part with all mips and layers; an image of three dimensions has one layer.
    [[nodiscard]] ImagePart whole() const { return {0, shape.mips, 0, shape.layers}; }
    /// Returns its view for kernels, made once; `storage`: of its first mip, to write to. Thread-safe.
    VkImageView view(const driver::ImageRange& range, bool storage);

    /// Whether it is in no layout yet, and its texels aren't defined. Guarded by the device's lock.
    bool is_fresh = false;

private:
    friend class Images;
    /// Dimension, is_array, storage, first mip, mips, first layer, layers.
    using ViewKey = std::tuple<driver::ImageDimension, bool, bool, std::uint32_t, std::uint32_t,
                               std::uint32_t, std::uint32_t>;

    std::shared_ptr<Context> context_;
    std::shared_ptr<ImageMemory> memory_;
    ImageMemory::Place place_;
    std::shared_ptr<void> owner_;  ///< of somebody else's image
    std::shared_ptr<const void> known_as_;
    bool is_foreign_ = false;
    VkImage handle_ = VK_NULL_HANDLE;
    VkFormatFeatureFlags features_ = 0;
    VkImageLayout resting_ = VK_IMAGE_LAYOUT_GENERAL;
    std::mutex mutex_;
    std::map<ViewKey, VkImageView> views_;
};

/// Makes them. Thread-safe.
class Images {
public:
    explicit Images(std::shared_ptr<Context> context)
        : context_(std::move(context)), memory_(std::make_shared<ImageMemory>(context_)) {}

    /// Throws kf::ArgumentError and kf::DeviceError as driver::ImageDevice says; out_of_memory too.
    std::shared_ptr<VulkanImage> make(const driver::ImageShape& shape);
    /// Throws kf::ArgumentError: missing_argument for no image, value_range for a layout that none can be
    /// left in, shape_mismatch for an image that is wrapped already as another shape or in another layout.
    std::shared_ptr<VulkanImage> wrap(driver::ForeignImage image);

    [[nodiscard]] ImageMemory& memory() { return *memory_; }

private:
    std::shared_ptr<Context> context_;
    std::shared_ptr<ImageMemory> memory_;
    /// The state that all wrappers of one image share: lists know it by its handle, and so as one.
    struct Known {
        driver::ImageShape shape;
        VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
    };
    std::mutex mutex_;
    std::map<VkImage, std::weak_ptr<const Known>> wrapped_;
};

}  // namespace kf::vulkan
