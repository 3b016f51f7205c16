// Tests of how regions are cut into pieces: no memory is touched, only numbers.
#include "vulkan/image_pieces.h"

#include <gtest/gtest.h>

#include <vector>

namespace kf::vulkan {
namespace {

/// Puts the number of each texel of the region, in the order of packed bytes, where the pieces say that it
/// lies, and compares; returns how many pieces there were.
std::size_t expect_all(const driver::ImageRegion& region, std::uint64_t texel_bytes, std::uint64_t room) {
    const auto& extent = region.extent;
    std::size_t pieces = 0;
    std::size_t next = 0;
    ImagePieces cut(region, texel_bytes);
    while (!cut.is_done()) {
        const driver::ImageRegion piece = cut.next(room);
        ++pieces;
        EXPECT_EQ(piece.mip, region.mip);
        const std::uint64_t bytes =
            std::uint64_t{piece.extent[0]} * piece.extent[1] * piece.extent[2] * piece.layers * texel_bytes;
        EXPECT_GT(bytes, 0U);
        EXPECT_LE(bytes, room);
        for (std::uint32_t layer = 0; layer < piece.layers; ++layer) {
            for (std::uint32_t z = 0; z < piece.extent[2]; ++z) {
                for (std::uint32_t y = 0; y < piece.extent[1]; ++y) {
                    for (std::uint32_t x = 0; x < piece.extent[0]; ++x, ++next) {
                        const std::size_t slice = piece.first_layer + layer - region.first_layer +
                                                  piece.offset[2] + z - region.offset[2];
                        const std::size_t place =
                            (slice * extent[1] + piece.offset[1] + y - region.offset[1]) * extent[0] +
                            piece.offset[0] + x - region.offset[0];
                        EXPECT_EQ(place, next);
                    }
                }
            }
        }
    }
    EXPECT_EQ(next, std::size_t{extent[0]} * extent[1] * extent[2] * region.layers);
    return pieces;
}

TEST(ImagePieces, CoverTheRegionInOrder) {
    const driver::ImageRegion flat{2, 3, 4, {5, 6, 0}, {7, 5, 1}};
    const driver::ImageRegion deep{0, 0, 1, {1, 0, 9}, {7, 3, 5}};
    for (const driver::ImageRegion& region : {flat, deep}) {
        for (std::uint64_t room = 4; room < 700; room += 3) expect_all(region, 4, room);
    }
    EXPECT_EQ(expect_all(flat, 4, 560), 1U);
    EXPECT_EQ(expect_all(flat, 4, 559), 2U);
    EXPECT_EQ(expect_all(flat, 16, 16), 140U);
    EXPECT_EQ(expect_all({0, 0, 0, {}, {4, 4, 1}}, 4, 16), 0U);
    EXPECT_EQ(expect_all({0, 0, 1, {}, {0, 4, 1}}, 4, 16), 0U);
}

}  // namespace
}  // namespace kf::vulkan
