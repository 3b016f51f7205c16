// The layouts of an image's mips and layers, and which of them commands have touched since the last barrier.
#pragma once

#include <cstdint>
#include <vector>

#include "vulkan/functions.h"

namespace kf::vulkan {

/// Mips and layers of an image.
struct ImagePart {
    std::uint32_t first_mip = 0;
    std::uint32_t mips = 1;
    std::uint32_t first_layer = 0;
    std::uint32_t layers = 1;

    bool operator==(const ImagePart&) const = default;
    [[nodiscard]] bool overlaps(const ImagePart& other) const {
        return first_mip < other.first_mip + other.mips && other.first_mip < first_mip + mips &&
               first_layer < other.first_layer + other.layers && other.first_layer < first_layer + layers;
    }
};

/// The state of one image in one command list. As long as all of it is alike it takes the memory of one mip.
/// Not thread-safe.
class ImageStates {
public:
    struct Transition {
        VkImageLayout from = VK_IMAGE_LAYOUT_UNDEFINED;
        ImagePart part;

        bool operator==(const Transition&) const = default;
    };

    /// Begins with all parts in `layout`.
    ImageStates(std::uint32_t mips, std::uint32_t layers, VkImageLayout layout);

    /// Whether an access of the part in `layout` must wait: for another layout, or for an access since the
    /// barrier that began `epoch` (read after write, write after anything).
    [[nodiscard]] bool conflicts(const ImagePart& part, VkImageLayout layout, bool writes,
                                 std::uint64_t epoch) const;
    /// Puts the part into `layout`, and adds to `made` what isn't there yet.
    void move(const ImagePart& part, VkImageLayout layout, std::vector<Transition>& made);
    /// The part, which is in its layout by now, is accessed.
    void note(const ImagePart& part, bool writes, std::uint64_t epoch);

    [[nodiscard]] ImagePart whole() const { return {0, mips_, 0, layers_}; }

private:
    struct State {
        VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
        bool written = false;
        std::uint64_t epoch = 0;  ///< of the last access

        bool operator==(const State&) const = default;
    };

    [[nodiscard]] bool is_whole(const ImagePart& part) const { return part == whole(); }
    [[nodiscard]] bool is_uniform() const { return states_.size() == 1; }
    [[nodiscard]] const State& at(std::uint32_t mip, std::uint32_t layer) const {
        return states_[is_uniform() ? 0 : std::size_t{mip} * layers_ + layer];
    }
    void split();
    /// Calls `function` with each state of the part, all of which are apart.
    template <class Function>
    void each(const ImagePart& part, Function function);

    std::uint32_t mips_;
    std::uint32_t layers_;
    std::vector<State> states_;  ///< one for all, or one for each layer of each mip
};

}  // namespace kf::vulkan
