// Textures: what they know of themselves, and their views. Texels: see texture_transfer.cpp.
#include <kf/any_texture.h>
#include <kf/device.h>
#include <kf/error.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/describe.h"
#include "core/texture_state.h"

namespace kf {
namespace {

using detail::state_of;
using detail::TextureState;

constexpr std::int64_t faces = 6;

[[noreturn]] void refuse(ErrorCode code, const std::string& text) { throw ArgumentError(code, text); }

std::string counted(std::int64_t count, const char* thing) {
    return std::to_string(count) + ' ' + thing + (count == 1 ? "" : "s");
}

/// "2D array", "cube".
std::string dimensions_text(const TextureShape& shape) {
    return (shape.is_cube ? "cube" : std::to_string(shape.dimensions) + "D") +
           (shape.is_array ? " array" : "");
}

void check_dimensions(const TextureShape& shape) {
    const std::string what = "texture: ";
    if (shape.dimensions < 1 || shape.dimensions > 3) {
        refuse(ErrorCode::rank_mismatch,
               what + "it has " + std::to_string(shape.dimensions) + " dimensions; expected 1, 2 or 3");
    }
    if (shape.is_cube && shape.dimensions != 2) {
        refuse(ErrorCode::rank_mismatch,
               what + "a cube's faces have 2 dimensions, not " + std::to_string(shape.dimensions));
    }
    if (shape.is_array && shape.dimensions == 3) {
        refuse(ErrorCode::rank_mismatch, what + "there are no arrays of 3D textures");
    }
    if (shape.extents.size() != static_cast<std::size_t>(shape.dimensions)) {
        refuse(ErrorCode::rank_mismatch,
               what + "a " + dimensions_text(shape) + " texture has " + counted(shape.dimensions, "extent") +
                   " (neither layers nor channels count), found " + to_string(shape.extents));
    }
    if (shape.is_cube && shape.extents[0] != shape.extents[1]) {
        refuse(ErrorCode::shape_mismatch,
               what + "a cube's faces are square, found " + to_string(shape.extents));
    }
}

void check_counts(const TextureShape& shape) {
    const std::string what = "texture: ";
    constexpr std::int64_t limit = std::numeric_limits<std::uint32_t>::max();
    for (const std::int64_t extent : shape.extents) {
        if (extent < 1 || extent > limit) {
            refuse(ErrorCode::shape_mismatch,
                   what + "extents are at least 1 and fit 32 bits, found " + to_string(shape.extents));
        }
    }
    const bool layered = shape.is_array || shape.is_cube;
    if (!layered && shape.layers != 1) {
        refuse(ErrorCode::shape_mismatch, what + "only arrays and cubes have layers, found " +
                                              std::to_string(shape.layers) + " of a " +
                                              dimensions_text(shape) + " texture");
    }
    if (shape.layers < 1 || shape.layers > limit) {
        refuse(ErrorCode::shape_mismatch,
               what + "it has at least 1 layer, found " + std::to_string(shape.layers));
    }
    if (shape.is_cube && (shape.layers % faces != 0 || (!shape.is_array && shape.layers != faces))) {
        refuse(ErrorCode::shape_mismatch, what + "a cube has 6 layers" +
                                              (shape.is_array ? ", an array of cubes 6 for each" : "") +
                                              ", found " + std::to_string(shape.layers));
    }
    const std::int64_t most = most_mips(shape.extents);
    if (shape.mips < 1 || shape.mips > most) {
        refuse(ErrorCode::index_range, what + "of extents " + to_string(shape.extents) + " there are " +
                                           counted(most, "mip") + ", not " + std::to_string(shape.mips));
    }
}

/// The shape with all that is left open filled in. Throws where no texture may be so.
TextureShape checked_shape(TextureShape shape) {
    if (static_cast<std::size_t>(shape.format) >= texture_formats.size()) {
        refuse(ErrorCode::value_range,
               "texture: there is no format " + std::to_string(static_cast<int>(shape.format)));
    }
    check_dimensions(shape);
    if (shape.is_cube && !shape.is_array && shape.layers == 1) shape.layers = faces;
    if (shape.mips == 0 && std::ranges::min(shape.extents) > 0) shape.mips = most_mips(shape.extents);
    check_counts(shape);
    if (shape.writable && info_of(shape.format).texel == TexelClass::srgb) {
        refuse(ErrorCode::type_mismatch,
               "texture: no call writes rgba8_srgb; write to one of rgba8, or make this one to be read only");
    }
    return shape;
}

driver::ImageDimension dimension_of(const TextureShape& shape) {
    if (shape.is_cube) return driver::ImageDimension::cube;
    switch (shape.dimensions) {
        case 1: return driver::ImageDimension::one;
        case 2: return driver::ImageDimension::two;
        default: return driver::ImageDimension::three;
    }
}

driver::ImageShape image_shape(const TextureShape& shape) {
    // From the last extent on: x, y, z.
    const auto extent = [&](std::size_t axis) {
        const std::size_t rank = shape.extents.size();
        return axis < rank ? static_cast<std::uint32_t>(shape.extents[rank - 1 - axis]) : 1U;
    };
    driver::ImageShape made;
    made.dimension = dimension_of(shape);
    made.format = shape.format;
    made.width = extent(0);
    made.height = extent(1);
    made.depth = extent(2);
    made.mips = static_cast<std::uint32_t>(shape.mips);
    made.layers = static_cast<std::uint32_t>(shape.layers);
    made.is_writable = shape.writable;
    return made;
}

const Device& checked_device(const Device& device) {
    if (!device) refuse(ErrorCode::missing_argument, "texture: the device is null");
    return device;
}

/// Fills in what follows from the rest.
std::shared_ptr<const TextureState> shared(TextureState state) {
    state.texels = {};
    if (state.shape.is_array || state.shape.is_cube) state.texels.push_back(state.shape.layers);
    for (const std::int64_t extent : state.shape.extents) state.texels.push_back(extent);
    return std::make_shared<const TextureState>(std::move(state));
}

/// All of an image.
AnyTexture make_whole(const Device& device, const TextureShape& shape, std::shared_ptr<driver::Image> image) {
    TextureState state;
    state.device = device.state();
    state.image = std::move(image);
    state.range.mips = static_cast<std::uint32_t>(shape.mips);
    state.range.layers = static_cast<std::uint32_t>(shape.layers);
    state.range.dimension = dimension_of(shape);
    state.range.is_array = shape.is_array;
    state.shape = shape;
    return AnyTexture(shared(std::move(state)));
}

/// The first and the number of some mips or layers, as far as they are there.
void check_range(const char* what, const char* thing, std::int64_t& first, std::int64_t count,
                 std::int64_t there) {
    const std::int64_t from = first < 0 ? first + there : first;
    if (count < 1 || from < 0 || from >= there || count > there - from) {
        refuse(ErrorCode::index_range, std::string(what) + ": " + counted(count, thing) + " from " +
                                           std::to_string(first) + " on, of " + counted(there, thing));
    }
    first = from;
}

void check_index(const char* what, const char* thing, std::int64_t& index, std::int64_t there) {
    const std::int64_t from = index < 0 ? index + there : index;
    if (from < 0 || from >= there) {
        refuse(ErrorCode::index_range,
               std::string(what) + ": there is no " + thing + ' ' + std::to_string(index) +
                   (there == 1 ? "; there is " : "; there are ") + counted(there, thing));
    }
    index = from;
}

void check_layered(const char* what, const TextureShape& shape) {
    if (!shape.is_array && !shape.is_cube) {
        refuse(ErrorCode::rank_mismatch, std::string(what) + ": a " + dimensions_text(shape) +
                                             " texture has no layers; arrays and cubes have");
    }
}

AnyTexture mip_view(const TextureState& state, std::int64_t first, std::int64_t count) {
    TextureState next = state;
    next.range.first_mip += static_cast<std::uint32_t>(first);
    next.range.mips = static_cast<std::uint32_t>(count);
    next.shape.extents = mip_extents(state.shape.extents, first);
    next.shape.mips = count;
    return AnyTexture(shared(std::move(next)));
}

AnyTexture layer_view(const TextureState& state, std::int64_t first, std::int64_t count, bool is_cube,
                      bool is_array) {
    TextureState next = state;
    next.shape.is_cube = is_cube;
    next.shape.is_array = is_array;
    next.shape.layers = count;
    next.range.first_layer += static_cast<std::uint32_t>(first);
    next.range.layers = static_cast<std::uint32_t>(count);
    next.range.dimension = dimension_of(next.shape);
    next.range.is_array = is_array;
    return AnyTexture(shared(std::move(next)));
}

/// How many cubes a texture has, and that it is an array of them.
std::int64_t cubes_of(const char* what, const TextureShape& shape) {
    if (!shape.is_cube || !shape.is_array) {
        refuse(ErrorCode::rank_mismatch,
               std::string(what) + ": a " + dimensions_text(shape) + " texture is no array of cubes");
    }
    return shape.layers / faces;
}

}  // namespace

namespace detail {

const TextureState& state_of(const AnyTexture& texture) {
    if (!texture) refuse(ErrorCode::missing_argument, "the texture is null");
    return *texture.state();
}

AnyTexture wrap_texture(const Device& device, const TextureShape& shape, driver::ForeignImage image) {
    const Device& on = checked_device(device);
    const TextureShape checked = checked_shape(shape);
    image.shape = image_shape(checked);
    return make_whole(on, checked, on.state()->driver().wrap_image(std::move(image)));
}

}  // namespace detail

std::string to_string(const TextureShape& shape) {
    std::string text = dimensions_text(shape) + ' ' + std::string(info_of(shape.format).name) +
                       " texture of shape " + to_string(shape.extents);
    if (shape.is_array) {
        text += shape.is_cube ? ", " + counted(shape.layers / faces, "cube")
                              : ", " + counted(shape.layers, "layer");
    }
    return shape.mips == 1 ? text : text + ", " + counted(shape.mips, "mip");
}

Dims mip_extents(const Dims& extents, std::int64_t mip) {
    Dims halved;
    for (const std::int64_t extent : extents) halved.push_back(std::max<std::int64_t>(1, extent >> mip));
    return halved;
}

std::int64_t most_mips(const Dims& extents) {
    std::int64_t largest = 1;
    for (const std::int64_t extent : extents) largest = std::max(largest, extent);
    std::int64_t mips = 1;
    for (; largest > 1; largest >>= 1) ++mips;
    return mips;
}

AnyTexture AnyTexture::empty(const Device& device, const TextureShape& shape) {
    const Device& on = checked_device(device);
    const TextureShape checked = checked_shape(shape);
    driver::Device& driver = on.state()->driver();
    driver.admit();
    return make_whole(on, checked, driver.make_image(image_shape(checked)));
}

AnyTexture AnyTexture::from_host(const Device& device, const TextureShape& shape,
                                 std::span<const std::byte> bytes) {
    AnyTexture texture = empty(device, shape);
    detail::write_unrecorded(texture, bytes);
    return texture;
}

Device AnyTexture::device() const { return Device(state_of(*this).device); }
const TextureShape& AnyTexture::shape() const { return state_of(*this).shape; }

AnyTexture AnyTexture::mip(std::int64_t index) const {
    const TextureState& state = state_of(*this);
    check_index("mip", "mip", index, state.shape.mips);
    return mip_view(state, index, 1);
}

AnyTexture AnyTexture::mips(std::int64_t first, std::int64_t count) const {
    const TextureState& state = state_of(*this);
    check_range("mips", "mip", first, count, state.shape.mips);
    return mip_view(state, first, count);
}

AnyTexture AnyTexture::layer(std::int64_t index) const {
    const TextureState& state = state_of(*this);
    check_layered("layer", state.shape);
    check_index("layer", "layer", index, state.shape.layers);
    return layer_view(state, index, 1, false, false);
}

AnyTexture AnyTexture::layers(std::int64_t first, std::int64_t count) const {
    const TextureState& state = state_of(*this);
    check_layered("layers", state.shape);
    check_range("layers", "layer", first, count, state.shape.layers);
    return layer_view(state, first, count, false, true);
}

AnyTexture AnyTexture::cube(std::int64_t index) const {
    const TextureState& state = state_of(*this);
    check_index("cube", "cube", index, cubes_of("cube", state.shape));
    return layer_view(state, index * faces, faces, true, false);
}

AnyTexture AnyTexture::cubes(std::int64_t first, std::int64_t count) const {
    const TextureState& state = state_of(*this);
    check_range("cubes", "cube", first, count, cubes_of("cubes", state.shape));
    return layer_view(state, first * faces, count * faces, true, true);
}

AnyTexture AnyTexture::with_sampler(const Sampler& sampler) const {
    if (!sampler) refuse(ErrorCode::missing_argument, "with_sampler: the sampler is null");
    TextureState next = state_of(*this);
    next.sampler = sampler;
    return AnyTexture(shared(std::move(next)));
}

AnyTexture AnyTexture::without_sampler() const {
    if (!sampler()) return *this;
    TextureState next = state_of(*this);
    next.sampler = {};
    return AnyTexture(shared(std::move(next)));
}

const Sampler& AnyTexture::sampler() const { return state_of(*this).sampler; }

bool AnyTexture::is_same_view(const AnyTexture& other) const {
    if (state_ == other.state_) return true;
    return state_ && other.state_ && state_->image == other.state_->image &&
           state_->range == other.state_->range;
}

}  // namespace kf
