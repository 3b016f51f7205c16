// Formats of textures as Vulkan names them.
#include "vulkan/formats.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/image_checks.h"

namespace kf::vulkan {
namespace {

constexpr std::array<VkFormat, texture_formats.size()> formats{
    VK_FORMAT_R8_UNORM,      VK_FORMAT_R8G8_UNORM,    VK_FORMAT_R8G8B8A8_UNORM,
    VK_FORMAT_R16_UNORM,     VK_FORMAT_R16G16_UNORM,  VK_FORMAT_R16G16B16A16_UNORM,
    VK_FORMAT_R8_SNORM,      VK_FORMAT_R8G8_SNORM,    VK_FORMAT_R8G8B8A8_SNORM,
    VK_FORMAT_R16_SNORM,     VK_FORMAT_R16G16_SNORM,  VK_FORMAT_R16G16B16A16_SNORM,
    VK_FORMAT_R16_SFLOAT,    VK_FORMAT_R16G16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
    VK_FORMAT_R32_SFLOAT,    VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_R8_SINT,       VK_FORMAT_R8G8_SINT,     VK_FORMAT_R8G8B8A8_SINT,
    VK_FORMAT_R16_SINT,      VK_FORMAT_R16G16_SINT,   VK_FORMAT_R16G16B16A16_SINT,
    VK_FORMAT_R32_SINT,      VK_FORMAT_R32G32_SINT,   VK_FORMAT_R32G32B32A32_SINT,
    VK_FORMAT_R8_UINT,       VK_FORMAT_R8G8_UINT,     VK_FORMAT_R8G8B8A8_UINT,
    VK_FORMAT_R16_UINT,      VK_FORMAT_R16G16_UINT,   VK_FORMAT_R16G16B16A16_UINT,
    VK_FORMAT_R32_UINT,      VK_FORMAT_R32G32_UINT,   VK_FORMAT_R32G32B32A32_UINT,
    VK_FORMAT_R8G8B8A8_SRGB,
};
static_assert(formats.back() == VK_FORMAT_R8G8B8A8_SRGB);

}  // namespace

VkFormat vulkan_format(TextureFormat format) { return formats.at(static_cast<std::size_t>(format)); }

VkImageType image_type(driver::ImageDimension dimension) {
    switch (dimension) {
        case driver::ImageDimension::one: return VK_IMAGE_TYPE_1D;
        case driver::ImageDimension::three: return VK_IMAGE_TYPE_3D;
        case driver::ImageDimension::two:
        case driver::ImageDimension::cube: break;
    }
    return VK_IMAGE_TYPE_2D;
}

VkImageUsageFlags usage_of(const driver::ImageShape& shape) {
    const VkImageUsageFlags usage =
        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return shape.is_writable ? usage | VK_IMAGE_USAGE_STORAGE_BIT : usage;
}

VkFormatFeatureFlags format_features(const Instance& instance, const Physical& physical,
                                     TextureFormat format) {
    VkFormatProperties properties{};
    instance.functions().vkGetPhysicalDeviceFormatProperties(physical.handle, vulkan_format(format),
                                                             &properties);
    return properties.optimalTilingFeatures;
}

void check_image_support(const Instance& instance, const Physical& physical,
                         const driver::ImageShape& shape) {
    const std::string& device = physical.info.name;
    const std::string format(info_of(shape.format).name);
    const auto refuse = [](const std::string& why) {
        throw DeviceError(ErrorCode::missing_feature, "vulkan: " + why);
    };
    const VkFormatFeatureFlags features = format_features(instance, physical, shape.format);
    if ((features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) == 0) {
        refuse(device + " has no textures of " + format);
    }
    if (shape.is_writable && (features & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) == 0) {
        refuse(device + " can't write to textures of " + format);
    }
    const bool is_cube = shape.dimension == driver::ImageDimension::cube;
    if (is_cube && shape.layers > 6 && !offers(physical, cube_arrays_word)) {
        refuse(device + " has no arrays of cubes: it lacks " + cube_arrays_word);
    }
    VkImageFormatProperties most{};
    const VkResult result = instance.functions().vkGetPhysicalDeviceImageFormatProperties(
        physical.handle, vulkan_format(shape.format), image_type(shape.dimension), VK_IMAGE_TILING_OPTIMAL,
        usage_of(shape), is_cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0, &most);
    if (result < 0) {
        refuse(device + " can't have " + driver::to_string(shape));
    }
    if (shape.width > most.maxExtent.width || shape.height > most.maxExtent.height ||
        shape.depth > most.maxExtent.depth || shape.layers > most.maxArrayLayers ||
        shape.mips > most.maxMipLevels) {
        refuse(device + " can't have " + driver::to_string(shape) + ": at most " +
               std::to_string(most.maxExtent.width) + " x " + std::to_string(most.maxExtent.height) + " x " +
               std::to_string(most.maxExtent.depth) + " texels and " + std::to_string(most.maxArrayLayers) +
               " layers of " + format + " fit");
    }
}

bool offers(const Physical& physical, const char* word) {
    return std::ranges::binary_search(physical.info.features, word);
}

}  // namespace kf::vulkan
