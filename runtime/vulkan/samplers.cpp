// Samplers, of which equal ones are one.
#include "vulkan/samplers.h"

#include <kf/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "vulkan/formats.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

VkFilter filter(driver::Filter filter) {
    return filter == driver::Filter::linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
}

VkSamplerAddressMode address_mode(driver::Address address) {
    switch (address) {
        case driver::Address::repeat: return VK_SAMPLER_ADDRESS_MODE_REPEAT;
        case driver::Address::mirror: return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
        case driver::Address::border: return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
        case driver::Address::clamp: break;
    }
    return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
}

std::optional<VkBorderColor> border_colour(const std::array<float, 4>& border) {
    if (border == std::array<float, 4>{0, 0, 0, 0}) return VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
    if (border == std::array<float, 4>{0, 0, 0, 1}) return VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
    if (border == std::array<float, 4>{1, 1, 1, 1}) return VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE;
    return std::nullopt;
}

/// Throws where no sampler, or none of the device's, is like that.
void check_description(const Physical& physical, const driver::SamplerDescription& wanted) {
    const auto refuse = [](const std::string& why) {
        throw ArgumentError(ErrorCode::value_range, "vulkan: a sampler's " + why);
    };
    if (!(wanted.anisotropy >= 1)) {
        refuse("anisotropy is at least 1, not " + std::to_string(wanted.anisotropy));
    }
    if (!(wanted.lod_min <= wanted.lod_max)) {
        refuse("levels of detail go from " + std::to_string(wanted.lod_min) + " to " +
               std::to_string(wanted.lod_max));
    }
    if (!std::isfinite(wanted.lod_bias)) refuse("lod bias is not finite");
    if (!border_colour(wanted.border)) {
        refuse(
            "border is transparent black (0, 0, 0, 0), opaque black (0, 0, 0, 1) or opaque white (1, 1, "
            "1, 1)");
    }
    const auto lack = [&](const std::string& what) {
        throw DeviceError(ErrorCode::missing_feature,
                          "vulkan: " + physical.info.name + " has no samplers " + what);
    };
    if (wanted.anisotropy > 1 && !offers(physical, anisotropy_word)) {
        lack(std::string("with anisotropy: it lacks ") + anisotropy_word);
    }
    if (wanted.anisotropy > physical.limits.max_anisotropy && wanted.anisotropy > 1) {
        lack("with an anisotropy of " + std::to_string(wanted.anisotropy) + "; at most " +
             std::to_string(physical.limits.max_anisotropy));
    }
    if (std::abs(wanted.lod_bias) > physical.limits.max_lod_bias) {
        lack("with a lod bias of " + std::to_string(wanted.lod_bias) + "; at most " +
             std::to_string(physical.limits.max_lod_bias));
    }
}

}  // namespace

VulkanSampler::VulkanSampler(std::shared_ptr<const Context> context, const driver::SamplerDescription& wanted)
    : context_(std::move(context)) {
    description = wanted;
    home = context_.get();
    check_description(context_->physical, wanted);
    VkSamplerCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    info.magFilter = filter(wanted.magnify);
    info.minFilter = filter(wanted.minify);
    info.mipmapMode =
        wanted.mip == driver::Filter::linear ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
    info.addressModeU = address_mode(wanted.address[0]);
    info.addressModeV = address_mode(wanted.address[1]);
    info.addressModeW = address_mode(wanted.address[2]);
    info.mipLodBias = wanted.lod_bias;
    info.anisotropyEnable = wanted.anisotropy > 1 ? VK_TRUE : VK_FALSE;
    info.maxAnisotropy = wanted.anisotropy;
    // Kernels compare themselves: see spirv_compare.h.
    info.compareEnable = VK_FALSE;
    info.compareOp = VK_COMPARE_OP_NEVER;
    info.minLod = wanted.lod_min;
    info.maxLod = wanted.lod_max;
    info.borderColor = *border_colour(wanted.border);
    check(context_->vk.vkCreateSampler(context_->device, &info, nullptr, &handle_), "vkCreateSampler");
}

VulkanSampler::~VulkanSampler() {
    if (context_->process.is_here()) {
        context_->vk.vkDestroySampler(context_->device, handle_, nullptr);
    }
}

std::shared_ptr<VulkanSampler> Samplers::make(const driver::SamplerDescription& description) {
    const std::lock_guard lock(mutex_);
    std::erase_if(made_, [](const auto& one) { return one.second.expired(); });
    for (const auto& [known, sampler] : made_) {
        if (known == description) {
            if (auto alive = sampler.lock()) return alive;
        }
    }
    auto sampler = std::make_shared<VulkanSampler>(context_, description);
    made_.emplace_back(description, sampler);
    return sampler;
}

}  // namespace kf::vulkan
