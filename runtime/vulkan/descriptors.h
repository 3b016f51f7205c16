// Descriptor sets for the resources of a command list's dispatches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "vulkan/context.h"

namespace kf::vulkan {

/// One binding of a set: a buffer, or an image, a sampler, or both.
struct Descriptor {
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    VkDescriptorBufferInfo buffer{};
    VkDescriptorImageInfo image{};

    bool operator==(const Descriptor& other) const {
        return type == other.type && buffer.buffer == other.buffer.buffer &&
               buffer.offset == other.buffer.offset && buffer.range == other.buffer.range &&
               image.sampler == other.image.sampler && image.imageView == other.image.imageView &&
               image.imageLayout == other.image.imageLayout;
    }
};

/// Sets from pools that are kept and used again. Not thread-safe.
class Descriptors {
public:
    explicit Descriptors(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
    ~Descriptors();
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;

    /// A set of `layout` with these at these numbers; it lives until reset(), as what is in it has to. Asked
    /// for the same again soon, it is the same set.
    VkDescriptorSet make(VkDescriptorSetLayout layout, std::span<const std::int64_t> numbers,
                         std::span<const Descriptor> descriptors);
    /// Takes all sets back. The GPU must be done with them.
    void reset();

private:
    /// Descriptors by type, in the order of the pools' types.
    using Counts = std::array<std::uint32_t, 5>;
    struct Pool {
        VkDescriptorPool handle = VK_NULL_HANDLE;
        Counts made{};
        std::uint32_t sets_left = 0;
        Counts left{};
    };
    /// Pools that are used up one after the other.
    struct Chain {
        std::vector<Pool> pools;
        std::size_t current = 0;
    };
    struct Made {
        VkDescriptorSet set = VK_NULL_HANDLE;
        std::vector<Descriptor> descriptors;
    };
    /// The last sets of a layout: calls that take turns have several.
    struct Recent {
        std::array<Made, 4> made;
        std::size_t next = 0;
    };

    Pool& pool_for(const Counts& counts);
    [[nodiscard]] Pool make_pool(const Counts& counts) const;

    std::shared_ptr<const Context> context_;
    Chain buffers_;  ///< sets of buffers alone, as most are
    Chain any_;
    std::unordered_map<VkDescriptorSetLayout, Recent> recent_;
    std::vector<VkWriteDescriptorSet> writes_;
};

}  // namespace kf::vulkan
