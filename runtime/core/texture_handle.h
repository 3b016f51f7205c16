// What a kernel on CUDA is given of a texture in its block. runtime/slang/kf_textures.slang has the same
// structs.
#pragma once

#include <cstdint>

#include "core/manifest.h"

namespace kf::driver {

/// A `first_layer` of images without layers, which other instructions read.
inline constexpr std::uint32_t no_layers = ~std::uint32_t{0};

/// In the `first_layer` of a cube, or one of several, whose faces are loaded as layers of a 2D texture.
inline constexpr std::uint32_t face_layers = std::uint32_t{1} << 29;
inline constexpr std::uint32_t cube_layers = face_layers | std::uint32_t{1} << 30;

/// Behind the driver's objects for a texture that is read: ResourceSlot::samplers of them, each the texture
/// as the sampler of that number among the call's reads it. Of cubes, layers are counted by sixes.
struct TextureExtents {
    std::uint32_t width = 1;  ///< texels of the largest mip that the kernel sees
    std::uint32_t height = 1;
    std::uint32_t depth_or_layers = 1;
    std::uint32_t mips = 1;
    std::uint32_t first_layer = no_layers;
    std::uint32_t components = 4;  ///< of the format
};

/// A texture that is written: one mip of it.
struct WritableTextureHandle {
    std::uint64_t surface = 0;
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t depth_or_layers = 1;
    std::uint32_t first_layer = no_layers;
    std::uint32_t format = 0;  ///< a TextureFormat
    std::uint32_t mips = 1;
};

/// A sampler: its number among those of the call.
struct SamplerHandle {
    std::uint64_t index = 0;
};

static_assert(sizeof(std::uint64_t) + sizeof(TextureExtents) ==
              manifest::handle_bytes(manifest::ResourceKind::texture));
static_assert(sizeof(WritableTextureHandle) ==
              manifest::handle_bytes(manifest::ResourceKind::writable_texture));
static_assert(sizeof(SamplerHandle) == manifest::handle_bytes(manifest::ResourceKind::sampler));

}  // namespace kf::driver
