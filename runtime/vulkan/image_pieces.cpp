// A region of texels in pieces that fit into chunks of staging memory.
#include "vulkan/image_pieces.h"

#include <algorithm>

namespace kf::vulkan {

ImagePieces::ImagePieces(const driver::ImageRegion& region, std::uint64_t texel_bytes)
    : region_(region), texel_bytes_(texel_bytes), slices_(region.extent[2] * region.layers) {
    if (region.extent[0] == 0 || region.extent[1] == 0) slice_ = slices_;
}

driver::ImageRegion ImagePieces::next(std::uint64_t room) {
    const auto fitting = [room](std::uint64_t bytes, std::uint32_t most) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(room / bytes, most));
    };
    const std::uint64_t row_bytes = region_.extent[0] * texel_bytes_;
    const std::uint64_t slice_bytes = row_bytes * region_.extent[1];
    const bool has_layers = region_.extent[2] == 1;
    driver::ImageRegion piece = region_;
    const auto begin_at = [&](std::uint32_t slices) {
        if (has_layers) {
            piece.first_layer += slice_;
            piece.layers = slices;
        } else {
            piece.offset[2] += slice_;
            piece.extent[2] = slices;
        }
    };
    if (row_ == 0 && texel_ == 0 && room >= slice_bytes) {
        const std::uint32_t slices = fitting(slice_bytes, slices_ - slice_);
        begin_at(slices);
        slice_ += slices;
        return piece;
    }
    begin_at(1);
    piece.offset[1] += row_;
    if (texel_ == 0 && room >= row_bytes) {
        piece.extent[1] = fitting(row_bytes, region_.extent[1] - row_);
        row_ += piece.extent[1];
    } else {
        piece.extent[1] = 1;
        piece.offset[0] += texel_;
        piece.extent[0] = fitting(texel_bytes_, region_.extent[0] - texel_);
        texel_ += piece.extent[0];
        if (texel_ == region_.extent[0]) {
            texel_ = 0;
            ++row_;
        }
    }
    if (row_ == region_.extent[1]) {
        row_ = 0;
        ++slice_;
    }
    return piece;
}

}  // namespace kf::vulkan
