// A region of texels in pieces that fit into chunks of staging memory.
#pragma once

#include <cstdint>

#include "core/images.h"

namespace kf::vulkan {

/// Goes through the region in the order of its packed bytes: whole slices or layers while they fit, else
/// whole rows of one, else texels of one row.
class ImagePieces {
public:
    ImagePieces(const driver::ImageRegion& region, std::uint64_t texel_bytes);

    [[nodiscard]] bool is_done() const { return slice_ == slices_; }
    /// The next piece, of at most `room` bytes, which a texel fits into.
    driver::ImageRegion next(std::uint64_t room);

private:
    driver::ImageRegion region_;
    std::uint64_t texel_bytes_;
    std::uint32_t slices_;     ///< along z and of all layers: one of the two is 1
    std::uint32_t slice_ = 0;  ///< the next piece begins in it
    std::uint32_t row_ = 0;
    std::uint32_t texel_ = 0;
};

}  // namespace kf::vulkan
