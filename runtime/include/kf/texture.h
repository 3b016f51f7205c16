// kf::Texture2D<T> and its kin: textures whose element type, dimensions and access are in the type.
#pragma once

#include <concepts>
#include <utility>

#include <kf/any_texture.h>
#include <kf/texture_base.h>
#include <kf/texture_kind.h>
#include <kf/value.h>

namespace kf {

/// A texture that calls only read, whatever its format: kf::Texture2D<kf::float4> is what Texture2D<float4>
/// takes. A handle: copies and views share the texels. Rules, ownership and threads: see AnyTexture.
template <class T, TextureKind kind>
class Texture : public detail::TextureBase<T, kind, Texture> {
    using Base = detail::TextureBase<T, kind, Texture>;

public:
    Texture() = default;
    Texture(const RWTexture<T, kind>& texture)  // NOLINT(google-explicit-constructor)
        : Base(texture.any()) {}
    /// Throws ArgumentError where the dimensions differ, or the format's texels aren't read as T.
    explicit Texture(AnyTexture any) : Base(std::move(any)) {}
};

/// A texture that calls may write: what RWTexture2D<float4> takes. A Texture doesn't become one.
template <class T, TextureKind kind>
class RWTexture : public detail::TextureBase<T, kind, RWTexture> {
    using Base = detail::TextureBase<T, kind, RWTexture>;

public:
    RWTexture() = default;
    /// Throws as Texture does, and where it isn't writable.
    explicit RWTexture(AnyTexture any) : Base(std::move(any)) {}
};

/// A texture and a sampler in one: kf::Sampler2D<kf::float4> is what Sampler2D<float4> takes. Made by
/// Texture::with_sampler().
template <class T, TextureKind kind>
class Sampled {
public:
    Sampled() = default;
    /// Throws ArgumentError as Texture's does, and where there is no sampler.
    explicit Sampled(AnyTexture any) : any_(std::move(any)) {
        detail::check_texture_type(any_, kind, element_of<T>, false);
        detail::check_sampler(any_);
    }

    explicit operator bool() const { return static_cast<bool>(any_); }
    [[nodiscard]] const AnyTexture& any() const { return any_; }
    [[nodiscard]] Texture<T, kind> texture() const { return Texture<T, kind>(any_.without_sampler()); }
    [[nodiscard]] const Sampler& sampler() const { return any_.sampler(); }

private:
    AnyTexture any_;
};

namespace detail {
/// Returns whether that is a Texture, an RWTexture or a Sampled.
template <class T>
concept AnyOfTexture = requires(const T& texture) {
    { texture.any() } -> std::same_as<const AnyTexture&>;
};
}  // namespace detail

template <class T>
using Texture1D = Texture<T, TextureKind::one>;
template <class T>
using Texture1DArray = Texture<T, TextureKind::one_array>;
template <class T>
using Texture2D = Texture<T, TextureKind::two>;
template <class T>
using Texture2DArray = Texture<T, TextureKind::two_array>;
template <class T>
using Texture3D = Texture<T, TextureKind::three>;
template <class T>
using TextureCube = Texture<T, TextureKind::cube>;
template <class T>
using TextureCubeArray = Texture<T, TextureKind::cube_array>;
template <class T>
using RWTexture1D = RWTexture<T, TextureKind::one>;
template <class T>
using RWTexture1DArray = RWTexture<T, TextureKind::one_array>;
template <class T>
using RWTexture2D = RWTexture<T, TextureKind::two>;
template <class T>
using RWTexture2DArray = RWTexture<T, TextureKind::two_array>;
template <class T>
using RWTexture3D = RWTexture<T, TextureKind::three>;
template <class T>
using RWTextureCube = RWTexture<T, TextureKind::cube>;
template <class T>
using RWTextureCubeArray = RWTexture<T, TextureKind::cube_array>;
template <class T>
using Sampler1D = Sampled<T, TextureKind::one>;
template <class T>
using Sampler1DArray = Sampled<T, TextureKind::one_array>;
template <class T>
using Sampler2D = Sampled<T, TextureKind::two>;
template <class T>
using Sampler2DArray = Sampled<T, TextureKind::two_array>;
template <class T>
using Sampler3D = Sampled<T, TextureKind::three>;
template <class T>
using SamplerCube = Sampled<T, TextureKind::cube>;
template <class T>
using SamplerCubeArray = Sampled<T, TextureKind::cube_array>;

template <class T, TextureKind kind>
struct Out<RWTexture<T, kind>> {
    RWTexture<T, kind> target;
};

/// An output that a texture takes: one texel for each call.
template <class T, TextureKind kind>
[[nodiscard]] Out<RWTexture<T, kind>> out(const RWTexture<T, kind>& texture) {
    return {texture};
}

}  // namespace kf
