// Descriptor sets for the resources of a command list's dispatches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/context.h"

namespace kf::vulkan {

/// Sets from pools that are kept and used again. Not thread-safe.
class Descriptors {
public:
    explicit Descriptors(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
    ~Descriptors();
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;

    /// A set of `layout` with these storage buffers at these numbers; it lives until reset().
    VkDescriptorSet make(VkDescriptorSetLayout layout, std::span<const std::int64_t> numbers,
                         std::span<const VkDescriptorBufferInfo> buffers);
    /// Takes all sets back. The GPU must be done with them.
    void reset();

private:
    struct Pool {
        VkDescriptorPool handle = VK_NULL_HANDLE;
        std::uint32_t buffers = 0;  ///< that it was made for
        std::uint32_t sets_left = 0;
        std::uint32_t buffers_left = 0;
    };

    Pool& pool_for(std::uint32_t buffers);

    std::shared_ptr<const Context> context_;
    std::vector<Pool> pools_;
    std::size_t current_ = 0;
    std::vector<VkWriteDescriptorSet> writes_;
};

}  // namespace kf::vulkan
