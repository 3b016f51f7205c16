// What both drivers check of textures before they touch them.
#include "core/image_checks.h"

#include <kf/error.h>

#include <algorithm>
#include <bit>

namespace kf::driver {
namespace {

constexpr std::uint32_t faces = 6;

constexpr std::array dimension_names{"1D", "2D", "3D", "cube"};

std::string name_of(ImageDimension dimension) {
    return dimension_names.at(static_cast<std::size_t>(dimension));
}

std::string extents_of(const std::array<std::uint32_t, 3>& extent, std::size_t count) {
    std::string text = std::to_string(extent[0]);
    for (std::size_t d = 1; d < count; ++d) text += " x " + std::to_string(extent.at(d));
    return text;
}

std::size_t rank_of(ImageDimension dimension) {
    switch (dimension) {
        case ImageDimension::one: return 1;
        case ImageDimension::three: return 3;
        case ImageDimension::two:
        case ImageDimension::cube: break;
    }
    return 2;
}

/// Returns whether there are such mips and layers.
bool has(const ImageShape& shape, const ImageRange& range) {
    return range.mips != 0 && range.layers != 0 && range.first_mip < shape.mips &&
           range.mips <= shape.mips - range.first_mip && range.first_layer < shape.layers &&
           range.layers <= shape.layers - range.first_layer;
}

/// Returns whether mips and layers of `shape` can be seen so.
bool can_be_seen(const ImageShape& shape, const ImageRange& range) {
    switch (range.dimension) {
        case ImageDimension::one:
        case ImageDimension::three:
            return shape.dimension == range.dimension && (range.is_array || range.layers == 1) &&
                   (range.dimension == ImageDimension::one || !range.is_array);
        case ImageDimension::two:
            return (shape.dimension == ImageDimension::two || shape.dimension == ImageDimension::cube) &&
                   (range.is_array || range.layers == 1);
        case ImageDimension::cube:
            return shape.dimension == ImageDimension::cube && range.layers % faces == 0 &&
                   (range.is_array || range.layers == faces);
    }
    return false;
}

}  // namespace

std::string to_string(const ImageShape& shape) {
    std::string text = "a " + name_of(shape.dimension) + " texture of " +
                       extents_of({shape.width, shape.height, shape.depth}, rank_of(shape.dimension)) + ", " +
                       std::string(info_of(shape.format).name);
    if (shape.mips != 1) text += ", " + std::to_string(shape.mips) + " mips";
    const std::uint32_t layers = shape.dimension == ImageDimension::cube ? faces : 1;
    if (shape.layers != layers) text += ", " + std::to_string(shape.layers) + " layers";
    return text;
}

std::string view_name(ImageDimension dimension, bool is_array) {
    return name_of(dimension) + (is_array ? " texture array" : " texture");
}

std::array<std::uint32_t, 3> mip_extent(const ImageShape& shape, std::uint32_t mip) {
    const auto half = [mip](std::uint32_t extent) { return mip >= 32 ? 1 : std::max(extent >> mip, 1U); };
    return {half(shape.width), half(shape.height), half(shape.depth)};
}

std::uint32_t most_mips(const ImageShape& shape) {
    return static_cast<std::uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth})));
}

std::uint64_t region_bytes(const ImageShape& shape, const ImageRegion& region) {
    return std::uint64_t{region.extent[0]} * region.extent[1] * region.extent[2] * region.layers *
           info_of(shape.format).size();
}

void check_image_shape(const Info& info, const ImageShape& shape) {
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        throw ArgumentError(code, info.backend + ": " + to_string(shape) + ": " + why);
    };
    if (shape.width == 0 || shape.height == 0 || shape.depth == 0 || shape.layers == 0) {
        refuse(ErrorCode::value_range, "a texture has at least one texel and one layer");
    }
    const std::size_t rank = rank_of(shape.dimension);
    if ((rank < 2 && shape.height != 1) || (rank < 3 && shape.depth != 1)) {
        refuse(ErrorCode::shape_mismatch,
               "its extents are " + extents_of({shape.width, shape.height, shape.depth}, 3));
    }
    if (shape.mips == 0 || shape.mips > most_mips(shape)) {
        refuse(ErrorCode::value_range, "it can have 1 to " + std::to_string(most_mips(shape)) + " mips");
    }
    if (shape.dimension == ImageDimension::three && shape.layers != 1) {
        refuse(ErrorCode::shape_mismatch, "3D textures have no layers");
    }
    if (shape.dimension == ImageDimension::cube && shape.width != shape.height) {
        refuse(ErrorCode::shape_mismatch, "the faces of a cube are squares");
    }
    if (shape.dimension == ImageDimension::cube && shape.layers % faces != 0) {
        refuse(ErrorCode::shape_mismatch, "each cube has 6 layers, its faces");
    }
    if (shape.is_writable && info_of(shape.format).texel == TexelClass::srgb) {
        refuse(ErrorCode::value_range, "kernels can't write to srgb formats; make it read-only, or rgba8");
    }
}

void check_region(const Info& info, const Image* ours, const ImageRegion& region, std::uint64_t bytes,
                  const char* what) {
    if (ours == nullptr) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            info.backend + ": the texture to " + what + " is not of this device");
    }
    const ImageShape& shape = ours->shape;
    const std::array<std::uint32_t, 3> whole = mip_extent(shape, region.mip);
    bool inside = region.mip < shape.mips && region.first_layer <= shape.layers &&
                  region.layers <= shape.layers - region.first_layer;
    for (std::size_t d = 0; d < whole.size(); ++d) {
        inside = inside && region.offset.at(d) <= whole.at(d) &&
                 region.extent.at(d) <= whole.at(d) - region.offset.at(d);
    }
    if (!inside) {
        throw ArgumentError(ErrorCode::index_range,
                            info.backend + ": texels to " + what + ": " + extents_of(region.extent, 3) +
                                " at " + extents_of(region.offset, 3) + " in mip " +
                                std::to_string(region.mip) + ", layers " +
                                std::to_string(region.first_layer) + " to " +
                                std::to_string(std::uint64_t{region.first_layer} + region.layers) + ", of " +
                                to_string(shape));
    }
    if (bytes != region_bytes(shape, region)) {
        throw ArgumentError(ErrorCode::shape_mismatch, info.backend + ": texels to " + what + ": " +
                                                           std::to_string(region_bytes(shape, region)) +
                                                           " bytes, not " + std::to_string(bytes) + ", of " +
                                                           to_string(shape));
    }
}

bool is_range_of(const ImageShape& shape, const ImageRange& range) {
    return has(shape, range) && can_be_seen(shape, range);
}

void fail_image_range(const std::string& who, const ImageShape& shape, const ImageRange& range) {
    if (!has(shape, range)) {
        throw ArgumentError(ErrorCode::index_range,
                            who + ": mips " + std::to_string(range.first_mip) + " to " +
                                std::to_string(std::uint64_t{range.first_mip} + range.mips) + ", layers " +
                                std::to_string(range.first_layer) + " to " +
                                std::to_string(std::uint64_t{range.first_layer} + range.layers) + ", of " +
                                to_string(shape));
    }
    throw ArgumentError(ErrorCode::shape_mismatch, who + ": " + std::to_string(range.layers) + " layers of " +
                                                       to_string(shape) + " are no " +
                                                       name_of(range.dimension) + " texture" +
                                                       (range.is_array ? " array" : ""));
}

}  // namespace kf::driver
