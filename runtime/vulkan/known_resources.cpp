// The resources of a command list's last dispatch.
#include "vulkan/known_resources.h"

#include <algorithm>
#include <variant>

namespace kf::vulkan {

KnownResources::Key KnownResources::key_of(const driver::Resource& resource) {
    if (const auto* image = std::get_if<driver::ImageBinding>(&resource))
        return {image->image.get(), image->sampler.get(), image->range};
    if (const auto* buffer = std::get_if<driver::BufferRange>(&resource))
        return {buffer->allocation.get(), nullptr, {}, buffer->offset, buffer->size, buffer->is_empty};
    return {nullptr, std::get<driver::SamplerBinding>(resource).sampler.get(), {}};
}

bool KnownResources::are(const driver::Kernel& kernel, std::span<const driver::Resource> resources) const {
    return kernel_ == &kernel &&
           std::ranges::equal(keys_, resources, [](const Key& known, const driver::Resource& given) {
               return known == key_of(given);
           });
}

void KnownResources::remember(const driver::Kernel& kernel, std::span<const driver::Resource> resources,
                              VkDescriptorSet set) {
    kernel_ = nullptr;
    keys_.clear();
    for (const driver::Resource& resource : resources) keys_.push_back(key_of(resource));
    set_ = set;
    kernel_ = &kernel;
}

}  // namespace kf::vulkan
