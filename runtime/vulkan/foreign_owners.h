// Memory and images that a command list uses and others own.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/images.h"
#include "vulkan/memory.h"

namespace kf::vulkan {

/// Owns memory and images of others, some of it several times. Others' owners may wait for locks of theirs,
/// so that whoever holds a lock takes what is here along, and lets go of it later. Not thread-safe.
class ForeignOwners {
public:
    void add(VulkanAllocation& memory) {
        if (last_ == &memory) return;
        owned_.emplace_back(memory.shared_from_this());
        memory_.push_back(&memory);
        last_ = &memory;
    }
    void add(VulkanImage& image) {
        if (last_ == &image) return;
        owned_.emplace_back(image.shared_from_this());
        last_ = &image;
    }
    /// Returns all memory that it owns, some of it several times.
    [[nodiscard]] std::span<VulkanAllocation* const> memory() const { return memory_; }
    /// Returns all that it owned, which it then owns no more.
    [[nodiscard]] std::vector<std::shared_ptr<void>> take() {
        last_ = nullptr;
        memory_.clear();
        return std::exchange(owned_, {});
    }

private:
    std::vector<std::shared_ptr<void>> owned_;
    std::vector<VulkanAllocation*> memory_;
    const void* last_ = nullptr;  ///< that was added
};

}  // namespace kf::vulkan
