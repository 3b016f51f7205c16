// The kind of parameters that are textures: its rules in manifests, its record and its resource.
#include "core/kinds/texture.h"

#include <algorithm>
#include <optional>

#include "core/consistency.h"
#include "core/pass_rules.h"
#include "core/record_list.h"
#include "core/resource_list.h"
#include "core/roles.h"

namespace kf::manifest::kinds {

using artifact::require;

namespace {

ResourceKind resource_of(const Texture& texture) {
    if (texture.is_combined) return ResourceKind::combined_texture;
    return texture.access == Access::read ? ResourceKind::texture : ResourceKind::writable_texture;
}

/// How many samplers a texture may be read with: on CUDA each makes an object of its own of it.
std::int64_t samplers_of(const Call& call) {
    const auto is_sampler = [](const Argument& argument) {
        return std::holds_alternative<Sampler>(argument.kind);
    };
    return std::max<std::int64_t>(1, std::ranges::count_if(call.arguments, is_sampler));
}

void check_format(const Texture& texture, const std::string& where) {
    const bool is_written = texture.access != Access::read;
    require(!is_written || !texture.format.empty(), where, "a written texture of no format");
    if (texture.format.empty()) return;
    const std::optional<TextureFormat> format = texture_format_named(texture.format);
    require(format && is_read_as(info_of(*format).texel, texture.texel), where,
            "a texture of an impossible format");
    require(!is_written || info_of(*format).texel != TexelClass::srgb, where,
            "a written texture of an sRGB format");
}

}  // namespace

bool is_texel_word(const std::string& word) { return word == "float" || word == "int" || word == "uint"; }

bool is_read_as(TexelClass given, const std::string& texel) {
    switch (given) {
        case TexelClass::sint: return texel == "int";
        case TexelClass::uint: return texel == "uint";
        default: return texel == "float";
    }
}

std::string texture_word(const Texture& texture) {
    return std::string(texture.access == Access::read ? "texture" : "rwtexture") +
           texture_dimension_words.at(static_cast<std::size_t>(texture.dimension)) +
           (texture.is_array ? "_array" : "");
}

void check_consistency(const Texture& texture, const Call&, const Argument& argument,
                       const std::string& where) {
    const std::int64_t dimensions = dimensions_of(texture.dimension);
    require(argument.gradient == Gradient::never && argument.tangent_of == -1 &&
                (!argument.differentiable || (texture.per_pixel && argument.role == Role::in)),
            where, "a texture with a gradient");
    require(argument.accumulate == Accumulate::automatic, where, "a texture that is accumulated");
    require(argument.pitch == 0 && argument.trailing == argument.element.extents &&
                argument.element.extents.size() <= 1,
            where, "a texture of other elements");
    require(texture.access == Access::read || texture.access == Access::read_write, where,
            "a texture that can't be read");
    require(texture.dimension != TextureDimension::three || !texture.is_array, where,
            "an array of 3D textures");
    require(!texture.is_combined || (texture.access == Access::read && !texture.per_pixel), where,
            "a combined texture that is written");
    require(is_texel_word(texture.texel), where, "a texture of impossible texels");
    check_format(texture, where);
    if (texture.per_pixel) {
        const std::int64_t rank = dimensions + (has_layers(texture) ? 1 : 0);
        require(argument.rank == rank && argument.call_rank == rank && argument.inner_rank == 0, where,
                "a texture of another rank");
        require(is_output(argument) == (texture.access != Access::read), where,
                "a texture that is written in another way");
    } else {
        require(argument.rank == dimensions && argument.inner_rank == dimensions && argument.call_rank == 0,
                where, "a texture of another rank");
        require(argument.role == Role::in, where, "a texture that isn't given");
    }
}

bool reads_elements(const Texture& texture, const Argument& argument) {
    return !texture.per_pixel || !is_only_written(argument.role);
}

bool writes_elements(const Texture& texture, const Argument&) { return texture.access != Access::read; }

void list_records(const Texture& texture, const Argument& argument, std::int64_t index, RecordList& list) {
    if (!texture.per_pixel || !touches_elements(argument, list.use().pass)) return;
    std::vector<std::int64_t> along = argument.map;
    std::sort(along.begin(), along.end());
    // In all variants: 0 where its extent is 1, and it is broadcast.
    list.add({RecordKind::strides, index, std::move(along)});
}

void list_resources(const Texture& texture, const Call& call, std::int64_t index, ResourceList& list) {
    const ResourceKind kind = resource_of(texture);
    ResourceSlot slot{call.arguments[static_cast<std::size_t>(index)].name, kind,
                      texture.access != Access::read};
    const bool as_layers = has_faces_as_layers(texture);
    slot.dimension = as_layers ? TextureDimension::two : texture.dimension;
    slot.is_array = texture.is_array || as_layers;
    slot.format = texture.format;
    slot.texel = texture.texel;
    slot.samplers = kind == ResourceKind::texture ? samplers_of(call) : 1;
    list.push_back({index, std::move(slot)});
}

}  // namespace kf::manifest::kinds
