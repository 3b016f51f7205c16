// The resources of a command list's last dispatch, which most dispatches after it take as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/driver.h"
#include "vulkan/functions.h"

namespace kf::vulkan {

/// Remembers resources by address: the list must own them until forget(). Not thread-safe.
class KnownResources {
public:
    /// Returns whether the resources are those remembered last, and of this kernel.
    [[nodiscard]] bool are(const driver::Kernel& kernel, std::span<const driver::Resource> resources) const;
    void remember(const driver::Kernel& kernel, std::span<const driver::Resource> resources,
                  VkDescriptorSet set);
    void forget() { kernel_ = nullptr; }
    /// Returns the set of what is remembered; asked for where are() has said so.
    [[nodiscard]] VkDescriptorSet set() const { return set_; }

private:
    struct Key {
        const void* object = nullptr;
        const void* sampler = nullptr;
        driver::ImageRange range;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        bool is_empty = false;

        bool operator==(const Key&) const = default;
    };
    static Key key_of(const driver::Resource& resource);

    const driver::Kernel* kernel_ = nullptr;
    std::vector<Key> keys_;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
};

}  // namespace kf::vulkan
