// Formats of textures as Vulkan names them, and what a device can do with each.
#pragma once

#include "core/images.h"
#include "vulkan/physical.h"

namespace kf::vulkan {

// Words of driver::Info::features about textures.
inline constexpr const char* cube_arrays_word = "cube_arrays";
inline constexpr const char* anisotropy_word = "sampler_anisotropy";
/// Texels read out of range are 0. Kernels that take textures need it.
inline constexpr const char* robust_images_word = "robust_images";

[[nodiscard]] VkFormat vulkan_format(TextureFormat format);
[[nodiscard]] VkImageType image_type(driver::ImageDimension dimension);

/// Returns the uses of an image of that shape.
[[nodiscard]] VkImageUsageFlags usage_of(const driver::ImageShape& shape);

/// Returns the features of optimally tiled images of the format.
[[nodiscard]] VkFormatFeatureFlags format_features(const Instance& instance, const Physical& physical,
                                                   TextureFormat format);

/// Throws kf::DeviceError (missing_feature), naming the format and the device, for an image that it can't
/// have.
void check_image_support(const Instance& instance, const Physical& physical, const driver::ImageShape& shape);

/// Returns whether the device offers what the word names.
[[nodiscard]] bool offers(const Physical& physical, const char* word);

}  // namespace kf::vulkan
