// Members that Texture2D<T>, RWTexture2D<T> and their kin have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <kf/any_texture.h>
#include <kf/device.h>
#include <kf/error.h>
#include <kf/tensor.h>
#include <kf/texture_kind.h>

namespace kf {

template <class T, TextureKind kind>
class Texture;
template <class T, TextureKind kind>
class RWTexture;
template <class T, TextureKind kind>
class Sampled;

namespace detail {

/// Members of Self, Texture or RWTexture, whether it can be written or not.
template <class T, TextureKind kind, template <class, TextureKind> class Self>
class TextureBase {
    static_assert(Texel<T>, "a texture's element is half, float, int or uint, or a vector of those");
    static constexpr bool is_writable = std::is_same_v<Self<T, kind>, RWTexture<T, kind>>;
    static constexpr TextureKindTraits traits = traits_of(kind);
    static constexpr std::size_t rank = traits.dimensions;
    static constexpr bool has_layers = traits.is_array || traits.is_cube;

public:
    using value_type = T;
    /// A shape or a place in it: neither layers nor channels count.
    using Extents = Shape<rank>;
    /// A texel on the host where no other format was asked for. One of three components has four.
    using Stored = StoredTexel<T>;

    /// `empty(device, {h, w})`, `empty(device, {h, w}, {.format = kf::TextureFormat::rgba8})`: texels
    /// undefined. Device::try_make() is the twin of this and of from().
    [[nodiscard]] static Self<T, kind> empty(const Device& device, const Extents& shape,
                                             const TextureOptions& options = {}) {
        return Self<T, kind>(AnyTexture::empty(device, made_shape(shape, options)));
    }
    /// Takes the texels of the first mip, as copy_from() does.
    template <class U>
    [[nodiscard]] static Self<T, kind> from(const Device& device, const Extents& shape,
                                            std::span<const U> texels, const TextureOptions& options = {}) {
        const TextureShape made = made_shape(shape, options);
        check_texel(made.format, element_of<U>);
        return Self<T, kind>(AnyTexture::from_host(device, made, std::as_bytes(texels)));
    }
    template <class U>
    [[nodiscard]] static Self<T, kind> from(const Device& device, const Extents& shape,
                                            const std::vector<U>& texels,
                                            const TextureOptions& options = {}) {
        return from(device, shape, std::span<const U>(texels), options);
    }

    /// Copies a tensor's elements on the device: see AnyTexture::copy_from().
    template <class U>
    [[nodiscard]] static Self<T, kind> from(const Tensor<U, rank + (has_layers ? 1 : 0)>& tensor,
                                            TextureOptions options = {}) {
        Extents shape{};
        for (std::size_t i = 0; i < rank; ++i) shape[rank - 1 - i] = *(tensor.any().shape().end() - 1 - i);
        if constexpr (has_layers) options.layers = tensor.any().shape()[0];
        const Self<T, kind> made = empty(tensor.device(), shape, options);
        made.copy_from(tensor);
        return made;
    }

    explicit operator bool() const { return static_cast<bool>(any_); }
    [[nodiscard]] const AnyTexture& any() const { return any_; }
    [[nodiscard]] Device device() const { return any_.device(); }
    [[nodiscard]] TextureFormat format() const { return any_.format(); }
    /// Extents of the first mip, in NumPy's order: (h, w).
    [[nodiscard]] Extents shape() const {
        Extents result{};
        for (std::size_t i = 0; i < rank; ++i) result[i] = any_.shape().extents[i];
        return result;
    }
    /// Returns how many mips, or layers, there are.
    [[nodiscard]] std::int64_t mips() const { return any_.shape().mips; }
    [[nodiscard]] std::int64_t layers() const requires has_layers { return any_.shape().layers; }

    /// Views: see AnyTexture.
    [[nodiscard]] Self<T, kind> mip(std::int64_t index) const { return Self<T, kind>(any_.mip(index)); }
    [[nodiscard]] Self<T, kind> mips(std::int64_t first, std::int64_t count) const {
        return Self<T, kind>(any_.mips(first, count));
    }
    [[nodiscard]] Self<T, traits.layer> layer(std::int64_t index) const requires has_layers {
        return Self<T, traits.layer>(any_.layer(index));
    }
    [[nodiscard]] Self<T, traits.layers> layers(std::int64_t first,
                                                std::int64_t count) const requires has_layers {
        return Self<T, traits.layers>(any_.layers(first, count));
    }
    [[nodiscard]] Self<T, TextureKind::cube> cube(std::int64_t index) const
        requires(kind == TextureKind::cube_array) {
        return Self<T, TextureKind::cube>(any_.cube(index));
    }
    [[nodiscard]] Self<T, kind> cubes(std::int64_t first, std::int64_t count) const
        requires(kind == TextureKind::cube_array) {
        return Self<T, kind>(any_.cubes(first, count));
    }

    /// Returns this texture with a sampler, for parameters that are both in one.
    [[nodiscard]] Sampled<T, kind> with_sampler(const Sampler& sampler) const {
        return Sampled<T, kind>(any_.with_sampler(sampler));
    }

    /// The texels of the first mip, [layers,] [d,] h, w; waits for the calls that write them. U is what the
    /// format's texels are: to_vector<kf::uint8_t4>() of rgba8.
    template <class U = Stored>
    [[nodiscard]] std::vector<U> to_vector() const {
        check_texel(any_.format(), element_of<U>);
        std::vector<U> texels(any_.size_bytes() / sizeof(U));
        any_.read(std::as_writable_bytes(std::span(texels)));
        return texels;
    }
    /// Takes as many as there are in the first mip; copied before this returns.
    template <class U>
    void copy_from(std::span<const U> texels) const {
        check_texel(any_.format(), element_of<U>);
        any_.write(std::as_bytes(texels));
    }
    template <class U>
    void copy_from(const std::vector<U>& texels) const {
        copy_from(std::span<const U>(texels));
    }
    /// Returns the texels of a box of the first mip, in all layers.
    template <class U = Stored>
    [[nodiscard]] std::vector<U> region_to_vector(const Extents& offset, const Extents& extent) const {
        check_texel(any_.format(), element_of<U>);
        std::vector<U> texels(texel_count(any_, dims(offset), dims(extent)));
        any_.read_region(dims(offset), dims(extent), std::as_writable_bytes(std::span(texels)));
        return texels;
    }
    template <class U>
    void copy_region_from(const Extents& offset, const Extents& extent, std::span<const U> texels) const {
        check_texel(any_.format(), element_of<U>);
        any_.write_region(dims(offset), dims(extent), std::as_bytes(texels));
    }
    template <class U>
    void copy_region_from(const Extents& offset, const Extents& extent, const std::vector<U>& texels) const {
        copy_region_from(offset, extent, std::span<const U>(texels));
    }

    /// Copies on the device, without a wait: see AnyTexture::copy_from().
    template <class U, std::size_t N>
    void copy_from(const Tensor<U, N>& tensor) const {
        any_.copy_from(tensor.any());
    }
    template <class U, std::size_t N>
    void copy_to(const Tensor<U, N>& tensor) const {
        any_.copy_to(tensor.any());
    }
    template <class U = Stored>
    [[nodiscard]] Tensor<U, rank + (has_layers ? 1 : 0)> to_tensor() const {
        check_texel(any_.format(), element_of<U>);
        return Tensor<U, rank + (has_layers ? 1 : 0)>(any_.to_tensor());
    }
    /// Fills the mips behind the first.
    void generate_mips() const { any_.generate_mips(); }

    template <class U = Stored>
    [[nodiscard]] Result<std::vector<U>> try_to_vector() const {
        return attempt([&] { return to_vector<U>(); });
    }
    template <class Source>
    [[nodiscard]] Result<void> try_copy_from(const Source& source) const {
        return attempt([&] { copy_from(source); });
    }
    template <class U = Stored>
    [[nodiscard]] Result<std::vector<U>> try_region_to_vector(const Extents& offset,
                                                              const Extents& extent) const {
        return attempt([&] { return region_to_vector<U>(offset, extent); });
    }
    template <class Source>
    [[nodiscard]] Result<void> try_copy_region_from(const Extents& offset, const Extents& extent,
                                                    const Source& source) const {
        return attempt([&] { copy_region_from(offset, extent, source); });
    }
    template <class U, std::size_t N>
    [[nodiscard]] Result<void> try_copy_to(const Tensor<U, N>& tensor) const {
        return attempt([&] { copy_to(tensor); });
    }
    template <class U = Stored>
    [[nodiscard]] auto try_to_tensor() const {
        return attempt([&] { return to_tensor<U>(); });
    }
    [[nodiscard]] Result<void> try_generate_mips() const {
        return attempt([&] { generate_mips(); });
    }

protected:
    TextureBase() = default;
    explicit TextureBase(AnyTexture any) : any_(std::move(any)) {
        check_texture_type(any_, kind, element_of<T>, is_writable);
    }

private:
    [[nodiscard]] static Dims dims(const Extents& extents) {
        return Dims(std::span<const std::int64_t>(extents));
    }
    [[nodiscard]] static TextureShape made_shape(const Extents& extents, const TextureOptions& options) {
        TextureShape shape;
        shape.dimensions = static_cast<int>(rank);
        shape.is_cube = traits.is_cube;
        shape.is_array = traits.is_array;
        shape.extents = dims(extents);
        shape.mips = options.mips;
        shape.layers = options.layers;
        shape.format = options.format.value_or(default_format<T>());
        shape.writable = is_writable;
        return shape;
    }

    AnyTexture any_;
};

}  // namespace detail

}  // namespace kf
