// Images of the device's, and of somebody else's.
#include "vulkan/images.h"

#include <kf/error.h>

#include <string>

#include "core/image_checks.h"
#include "vulkan/formats.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

VkImageViewType view_type(const driver::ImageRange& range) {
    switch (range.dimension) {
        case driver::ImageDimension::one:
            return range.is_array ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D;
        case driver::ImageDimension::three: return VK_IMAGE_VIEW_TYPE_3D;
        case driver::ImageDimension::cube:
            return range.is_array ? VK_IMAGE_VIEW_TYPE_CUBE_ARRAY : VK_IMAGE_VIEW_TYPE_CUBE;
        case driver::ImageDimension::two: break;
    }
    return range.is_array ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
}

}  // namespace

VulkanImage::~VulkanImage() {
    if (context_ == nullptr || !context_->process.is_here()) {
        return;
    }
    for (const auto& [key, view] : views_) {
        context_->vk.vkDestroyImageView(context_->device, view, nullptr);
    }
    if (!is_foreign_) {
        context_->vk.vkDestroyImage(context_->device, handle_, nullptr);
    }
    if (place_.range.size != 0) {
        memory_->give(place_);
    }
}

VkImageView VulkanImage::view(const driver::ImageRange& range, bool storage) {
    const std::uint32_t mips = storage ? 1 : range.mips;
    const ViewKey key{range.dimension,   range.is_array, storage, range.first_mip, mips,
                      range.first_layer, range.layers};
    const std::lock_guard lock(mutex_);
    if (const auto found = views_.find(key); found != views_.end()) {
        return found->second;
    }
    if (range.is_array && range.dimension == driver::ImageDimension::cube &&
        !offers(context_->physical, cube_arrays_word)) {
        throw DeviceError(ErrorCode::missing_feature, "vulkan: " + context_->physical.info.name +
                                                          " has no arrays of cubes: it lacks " +
                                                          cube_arrays_word);
    }
    VkImageViewUsageCreateInfo usage{};
    usage.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO;
    usage.usage = storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT;
    VkImageViewCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    info.pNext = &usage;
    info.image = handle_;
    info.viewType = view_type(range);
    info.format = vulkan_format(shape.format);
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, range.first_mip, mips, range.first_layer,
                             range.layers};
    VkImageView view = VK_NULL_HANDLE;
    check(context_->vk.vkCreateImageView(context_->device, &info, nullptr, &view), "vkCreateImageView");
    views_.emplace(key, view);
    return view;
}

std::shared_ptr<VulkanImage> Images::make(const driver::ImageShape& shape) {
    const DeviceFunctions& vk = context_->vk;
    driver::check_image_shape(context_->physical.info, shape);
    check_image_support(*context_->instance, context_->physical, shape);
    auto image = std::make_shared<VulkanImage>();
    image->shape = shape;
    image->home = context_.get();
    image->features_ = format_features(*context_->instance, context_->physical, shape.format);
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.flags = shape.dimension == driver::ImageDimension::cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    info.imageType = image_type(shape.dimension);
    info.format = vulkan_format(shape.format);
    info.extent = {shape.width, shape.height, shape.depth};
    info.mipLevels = shape.mips;
    info.arrayLayers = shape.layers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = usage_of(shape);
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    check(vk.vkCreateImage(context_->device, &info, nullptr, &image->handle_), "vkCreateImage");
    image->context_ = context_;
    VkMemoryRequirements needs{};
    vk.vkGetImageMemoryRequirements(context_->device, image->handle_, &needs);
    image->memory_ = memory_;
    image->place_ = memory_->take(needs);
    check(vk.vkBindImageMemory(context_->device, image->handle_, image->place_.memory,
                               image->place_.range.offset),
          "vkBindImageMemory");
    // Kernels write in GENERAL alone; where they don't, they only ever sample.
    image->resting_ = shape.is_writable ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    image->is_fresh = true;
    return image;
}

std::shared_ptr<VulkanImage> Images::wrap(driver::ForeignImage foreign) {
    const auto handle = reinterpret_cast<VkImage>(foreign.handle);
    if (handle == VK_NULL_HANDLE) {
        throw ArgumentError(ErrorCode::missing_argument, "vulkan: a texture to wrap has no image");
    }
    driver::check_image_shape(context_->physical.info, foreign.shape);
    const auto layout = static_cast<VkImageLayout>(foreign.layout);
    if (layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PREINITIALIZED) {
        throw ArgumentError(ErrorCode::value_range,
                            "vulkan: a texture to wrap is in no layout that it could be left in; put it into "
                            "VK_IMAGE_LAYOUT_GENERAL, say");
    }
    auto image = std::make_shared<VulkanImage>();
    image->shape = foreign.shape;
    image->home = context_.get();
    image->context_ = context_;
    image->owner_ = std::move(foreign.owner);
    image->is_foreign_ = true;
    image->features_ = format_features(*context_->instance, context_->physical, image->shape.format);
    image->handle_ = handle;
    image->resting_ = layout;
    const std::lock_guard lock(mutex_);
    std::erase_if(wrapped_, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<const Known>& known = wrapped_[handle];
    std::shared_ptr<const Known> alike = known.lock();
    if (alike == nullptr) {
        alike = std::make_shared<const Known>(Known{image->shape, layout});
        known = alike;
    } else if (alike->shape != image->shape || alike->layout != layout) {
        throw ArgumentError(ErrorCode::shape_mismatch,
                            "vulkan: an image is wrapped as " + driver::to_string(image->shape) +
                                ", and already as " + driver::to_string(alike->shape) +
                                "; wrap it alike, in the same layout");
    }
    image->known_as_ = std::move(alike);
    return image;
}

}  // namespace kf::vulkan
