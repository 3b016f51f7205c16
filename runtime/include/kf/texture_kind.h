// The dimensions that texture types have, and the elements and formats that go with them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <kf/any_texture.h>
#include <kf/texture_format.h>
#include <kf/types.h>

namespace kf {

/// The dimensions of a texture type.
enum class TextureKind : std::uint8_t { one, one_array, two, two_array, three, cube, cube_array };

/// The properties of a new texture beside its extents.
struct TextureOptions {
    std::optional<TextureFormat> format = {};  ///< absent: 32 bits a component (of half 16), as T is
    std::int64_t mips = 1;                     ///< 0: all that there are
    std::int64_t layers = 1;                   ///< of arrays; of cubes 6, and of arrays of cubes 6 each
};

namespace detail {

struct TextureKindTraits {
    std::size_t dimensions = 2;
    bool is_cube = false;
    bool is_array = false;
    TextureKind layer = TextureKind::two;         ///< what one of its layers is
    TextureKind layers = TextureKind::two_array;  ///< what several are
};

[[nodiscard]] constexpr TextureKindTraits traits_of(TextureKind kind) {
    using enum TextureKind;
    switch (kind) {
        case one: return {1, false, false, one, one_array};
        case one_array: return {1, false, true, one, one_array};
        case two: return {2, false, false};
        case two_array: return {2, false, true};
        case three: return {3, false, false};
        case cube: return {2, true, false};
        case cube_array: break;
    }
    return {2, true, true};
}

/// The scalars and the number of components that shaders see.
template <class T>
struct TexelParts {
    using Scalar = T;
    static constexpr std::size_t count = 1;
};
template <class T, std::size_t N>
struct TexelParts<Vector<T, N>> {
    using Scalar = T;
    static constexpr std::size_t count = N;
};

/// A type of texels that textures can have in shaders.
template <class T>
concept Texel =
    std::same_as<typename TexelParts<T>::Scalar, half> || std::same_as < typename TexelParts<T>::Scalar,
float > || std::same_as<typename TexelParts<T>::Scalar, std::int32_t> ||
    std::same_as<typename TexelParts<T>::Scalar, std::uint32_t>;

/// No format has three components.
template <class T>
struct StoredAs {
    using Type = T;
};
template <class T>
struct StoredAs<Vector<T, 3>> {
    using Type = Vector<T, 4>;
};
template <class T>
using StoredTexel = typename StoredAs<T>::Type;

[[nodiscard]] constexpr TextureFormat format_like(TextureFormat one, TextureFormat two, TextureFormat four,
                                                  std::size_t components) {
    return components == 1 ? one : components == 2 ? two : four;
}

/// The format with exactly T's numbers, of four components for three.
template <class T>
[[nodiscard]] constexpr TextureFormat default_format() {
    using enum TextureFormat;
    using Scalar = typename TexelParts<T>::Scalar;
    constexpr std::size_t count = TexelParts<T>::count;
    if constexpr (std::same_as<Scalar, half>) return format_like(r16f, rg16f, rgba16f, count);
    if constexpr (std::same_as<Scalar, std::int32_t>) return format_like(r32i, rg32i, rgba32i, count);
    if constexpr (std::same_as<Scalar, std::uint32_t>) return format_like(r32ui, rg32ui, rgba32ui, count);
    return format_like(r32f, rg32f, rgba32f, count);
}

/// Throws ArgumentError unless the texture is null or has this type's dimensions, its texels are read as
/// elements of that type, and it is writable where it must be.
void check_texture_type(const AnyTexture& texture, TextureKind kind, const ElementType& element,
                        bool writable);
/// Throws ArgumentError unless the host has texels of that format as such elements.
void check_texel(TextureFormat format, const ElementType& element);
/// Throws ArgumentError where a texture that isn't null has no sampler.
void check_sampler(const AnyTexture& texture);
/// How many texels a box of the first mip has, in all layers. Throws where it lies outside.
[[nodiscard]] std::size_t texel_count(const AnyTexture& texture, const Dims& offset, const Dims& extent);

}  // namespace detail
}  // namespace kf
