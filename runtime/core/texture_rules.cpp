// What a parameter demands of the texture that is given for it.
#include "core/texture_rules.h"

#include <array>

namespace kf::detail {
namespace {

constexpr std::array classes{TexelClass::unorm, TexelClass::snorm, TexelClass::floating,
                             TexelClass::srgb,  TexelClass::sint,  TexelClass::uint};

constexpr std::uint8_t bit_of(TexelClass one) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(one));
}

static_assert(static_cast<int>(manifest::kinds::TextureDimension::cube) ==
              static_cast<int>(driver::ImageDimension::cube));

bool overlap(std::uint32_t first, std::uint32_t count, std::uint32_t other, std::uint32_t others) {
    return first < other + others && other < first + count;
}

}  // namespace

TextureRules rules_of(const manifest::kinds::Texture& texture) {
    TextureRules rules;
    rules.dimension = static_cast<driver::ImageDimension>(texture.dimension);
    rules.is_array = texture.is_array;
    rules.is_written = texture.access != manifest::Access::read;
    rules.is_combined = texture.is_combined;
    rules.one_mip = rules.is_written || texture.per_pixel;
    rules.faces_as_layers = has_faces_as_layers(texture);
    if (!texture.format.empty()) rules.format = texture_format_named(texture.format);
    for (const TexelClass one : classes) {
        if (manifest::kinds::is_read_as(one, texture.texel)) rules.classes |= bit_of(one);
    }
    return rules;
}

const Sampler* sampler_of(const Arg& arg) {
    if (arg.sampler != nullptr && *arg.sampler) return arg.sampler;
    if (arg.texture == nullptr || !*arg.texture || !arg.texture->sampler()) return nullptr;
    return &arg.texture->sampler();
}

TextureShape made_shape(const TextureRules& rules, const Dims& extents) {
    TextureShape shape;
    shape.is_cube = rules.dimension == driver::ImageDimension::cube;
    shape.is_array = rules.is_array;
    shape.format = rules.format.value();
    shape.writable = true;
    const std::size_t first = shape.is_array || shape.is_cube ? 1 : 0;
    if (first != 0) shape.layers = extents[0];
    for (std::size_t k = first; k < extents.size(); ++k) shape.extents.push_back(extents[k]);
    shape.dimensions = static_cast<int>(shape.extents.size());
    return shape;
}

bool share_texels(const driver::ImageRange& a, const driver::ImageRange& b) {
    return overlap(a.first_mip, a.mips, b.first_mip, b.mips) &&
           overlap(a.first_layer, a.layers, b.first_layer, b.layers);
}

}  // namespace kf::detail
