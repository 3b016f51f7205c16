// What both drivers check of textures before they touch them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/driver.h"

namespace kf::driver {

/// "a 2D texture of 33 x 7, rgba8, 3 mips, 2 layers": what is 1 isn't said.
[[nodiscard]] std::string to_string(const ImageShape& shape);

/// "2D texture array"
[[nodiscard]] std::string view_name(ImageDimension dimension, bool is_array);

/// Texels of a mip along x, y and z.
[[nodiscard]] std::array<std::uint32_t, 3> mip_extent(const ImageShape& shape, std::uint32_t mip);
/// How many mips there are down to a single texel.
[[nodiscard]] std::uint32_t most_mips(const ImageShape& shape);
/// Bytes of the region's texels, packed.
[[nodiscard]] std::uint64_t region_bytes(const ImageShape& shape, const ImageRegion& region);

/// Throws kf::ArgumentError (value_range, shape_mismatch) for what no texture may be; what a device lacks is
/// for its driver to say.
void check_image_shape(const Info& info, const ImageShape& shape);

/// Throws kf::ArgumentError: device_mismatch for no image of the device's own, which `ours` is, index_range
/// for a region that isn't inside of it, and shape_mismatch for other bytes than the region has. `what`: what
/// is done with it, as in "write".
void check_region(const Info& info, const Image* ours, const ImageRegion& region, std::uint64_t bytes,
                  const char* what);

/// Returns whether the image has these mips and layers, and they can be seen in these dimensions.
[[nodiscard]] bool is_range_of(const ImageShape& shape, const ImageRange& range);
/// Throws kf::ArgumentError (index_range, shape_mismatch) for what is_range_of() refuses. `who` begins the
/// message.
[[noreturn]] void fail_image_range(const std::string& who, const ImageShape& shape, const ImageRange& range);

}  // namespace kf::driver
