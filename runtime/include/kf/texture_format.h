// The formats of textures, by the names of Slang's [format].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <kf/types.h>

namespace kf {

/// The contents of texels, in the order of texture_formats. Formats without a suffix are unorm: fractions of
/// the largest integer.
enum class TextureFormat : std::uint8_t {
    r8,
    rg8,
    rgba8,
    r16,
    rg16,
    rgba16,
    r8_snorm,
    rg8_snorm,
    rgba8_snorm,
    r16_snorm,
    rg16_snorm,
    rgba16_snorm,
    r16f,
    rg16f,
    rgba16f,
    r32f,
    rg32f,
    rgba32f,
    r8i,
    rg8i,
    rgba8i,
    r16i,
    rg16i,
    rgba16i,
    r32i,
    rg32i,
    rgba32i,
    r8ui,
    rg8ui,
    rgba8ui,
    r16ui,
    rg16ui,
    rgba16ui,
    r32ui,
    rg32ui,
    rgba32ui,
    rgba8_srgb,
};

/// How a texel's bits become what a shader reads: numbers of the first four classes are floats there, those
/// of the last two ints and uints. Colours of `srgb` are read as linear ones, alpha as unorm; calls can't
/// write them.
enum class TexelClass : std::uint8_t { unorm, snorm, floating, srgb, sint, uint };

struct TextureFormatInfo {
    std::string_view name;  ///< "rgba8_snorm"
    TexelClass texel = TexelClass::unorm;
    std::uint32_t components = 1;  ///< 1, 2 or 4
    ScalarType scalar =
        ScalarType::float32;  ///< what the host has of each component: uint8 of unorm's 8 bits

    /// Bytes of a texel.
    [[nodiscard]] constexpr std::size_t size() const { return components * size_of(scalar); }
    /// Returns whether shaders read floats of it.
    [[nodiscard]] constexpr bool is_float() const {
        return texel != TexelClass::sint && texel != TexelClass::uint;
    }
};

inline constexpr std::array<TextureFormatInfo, 37> texture_formats{{
    {"r8", TexelClass::unorm, 1, ScalarType::uint8},
    {"rg8", TexelClass::unorm, 2, ScalarType::uint8},
    {"rgba8", TexelClass::unorm, 4, ScalarType::uint8},
    {"r16", TexelClass::unorm, 1, ScalarType::uint16},
    {"rg16", TexelClass::unorm, 2, ScalarType::uint16},
    {"rgba16", TexelClass::unorm, 4, ScalarType::uint16},
    {"r8_snorm", TexelClass::snorm, 1, ScalarType::int8},
    {"rg8_snorm", TexelClass::snorm, 2, ScalarType::int8},
    {"rgba8_snorm", TexelClass::snorm, 4, ScalarType::int8},
    {"r16_snorm", TexelClass::snorm, 1, ScalarType::int16},
    {"rg16_snorm", TexelClass::snorm, 2, ScalarType::int16},
    {"rgba16_snorm", TexelClass::snorm, 4, ScalarType::int16},
    {"r16f", TexelClass::floating, 1, ScalarType::float16},
    {"rg16f", TexelClass::floating, 2, ScalarType::float16},
    {"rgba16f", TexelClass::floating, 4, ScalarType::float16},
    {"r32f", TexelClass::floating, 1, ScalarType::float32},
    {"rg32f", TexelClass::floating, 2, ScalarType::float32},
    {"rgba32f", TexelClass::floating, 4, ScalarType::float32},
    {"r8i", TexelClass::sint, 1, ScalarType::int8},
    {"rg8i", TexelClass::sint, 2, ScalarType::int8},
    {"rgba8i", TexelClass::sint, 4, ScalarType::int8},
    {"r16i", TexelClass::sint, 1, ScalarType::int16},
    {"rg16i", TexelClass::sint, 2, ScalarType::int16},
    {"rgba16i", TexelClass::sint, 4, ScalarType::int16},
    {"r32i", TexelClass::sint, 1, ScalarType::int32},
    {"rg32i", TexelClass::sint, 2, ScalarType::int32},
    {"rgba32i", TexelClass::sint, 4, ScalarType::int32},
    {"r8ui", TexelClass::uint, 1, ScalarType::uint8},
    {"rg8ui", TexelClass::uint, 2, ScalarType::uint8},
    {"rgba8ui", TexelClass::uint, 4, ScalarType::uint8},
    {"r16ui", TexelClass::uint, 1, ScalarType::uint16},
    {"rg16ui", TexelClass::uint, 2, ScalarType::uint16},
    {"rgba16ui", TexelClass::uint, 4, ScalarType::uint16},
    {"r32ui", TexelClass::uint, 1, ScalarType::uint32},
    {"rg32ui", TexelClass::uint, 2, ScalarType::uint32},
    {"rgba32ui", TexelClass::uint, 4, ScalarType::uint32},
    {"rgba8_srgb", TexelClass::srgb, 4, ScalarType::uint8},
}};

[[nodiscard]] constexpr const TextureFormatInfo& info_of(TextureFormat format) {
    return texture_formats[static_cast<std::size_t>(format)];
}

/// The format of that name, if there is one.
[[nodiscard]] constexpr std::optional<TextureFormat> texture_format_named(std::string_view name) {
    for (std::size_t i = 0; i < texture_formats.size(); ++i)
        if (texture_formats[i].name == name) return static_cast<TextureFormat>(i);
    return std::nullopt;
}

}  // namespace kf
