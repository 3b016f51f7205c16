// AnyTexture: a texture whose texels, dimensions and access are known at run time only. Texture2D<T> and its
// kin wrap it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <kf/any_tensor.h>
#include <kf/sampler.h>
#include <kf/texture_format.h>

namespace kf {

/// The extents, mips, layers and format of a texture to make, or of a view of one.
struct TextureShape {
    int dimensions = 2;  ///< 1 to 3; 2 of cubes
    bool is_cube = false;
    bool is_array = false;
    Dims extents = {};        ///< of the first mip, in NumPy's order: (d, h, w); neither layers nor channels
    std::int64_t mips = 1;    ///< 0, of a texture to make: all that there are, down to one texel
    std::int64_t layers = 1;  ///< of a cube its 6 faces, +x, -x, +y, -y, +z, -z; of an array of cubes 6 each
    TextureFormat format = TextureFormat::rgba32f;
    bool writable = false;  ///< kernels may write to it
};

/// "2D rgba8 texture of shape [3, 4], 2 mips".
[[nodiscard]] std::string to_string(const TextureShape& shape);
/// The extents of mip `mip`: halved as often, rounded down, 1 at least.
[[nodiscard]] Dims mip_extents(const Dims& extents, std::int64_t mip);
/// How many mips there are down to one texel.
[[nodiscard]] std::int64_t most_mips(const Dims& extents);

namespace detail {
struct TextureState;
}  // namespace detail

/// A handle: copies, and views of mips and layers, share the texels. Immutable apart from the texels
/// themselves, so handles may be used from several threads. A default-made one is null. Texels outlive the
/// last handle until the device has finished with them.
class AnyTexture {
public:
    AnyTexture() = default;

    /// Texels undefined. Throws ArgumentError for what no texture may be, DeviceError (missing_feature) for
    /// what the device lacks.
    static AnyTexture empty(const Device& device, const TextureShape& shape);
    /// `bytes`: the texels of mip 0, as write() takes them; further mips are undefined.
    static AnyTexture from_host(const Device& device, const TextureShape& shape,
                                std::span<const std::byte> bytes);

    explicit operator bool() const { return state_ != nullptr; }
    [[nodiscard]] Device device() const;
    [[nodiscard]] const TextureShape& shape() const;
    [[nodiscard]] TextureFormat format() const { return shape().format; }
    [[nodiscard]] bool writable() const { return shape().writable; }
    /// Bytes of the view's first mip, packed: what read() and write() take.
    [[nodiscard]] std::size_t size_bytes() const;

    /// Views. Mips and layers count from this view's first ones; negative ones from the end. A layer of an
    /// array is no array any more, a face of a cube is a 2D texture, and several faces are a 2D array.
    [[nodiscard]] AnyTexture mip(std::int64_t index) const;
    [[nodiscard]] AnyTexture mips(std::int64_t first, std::int64_t count) const;
    [[nodiscard]] AnyTexture layer(std::int64_t index) const;
    [[nodiscard]] AnyTexture layers(std::int64_t first, std::int64_t count) const;
    /// Views of whole cubes, of an array of them.
    [[nodiscard]] AnyTexture cube(std::int64_t index) const;
    [[nodiscard]] AnyTexture cubes(std::int64_t first, std::int64_t count) const;

    /// Copies the texels of the view's first mip to or from the host: [layers,] [d,] h, w, channels, packed;
    /// waits for the calls that write (read) them.
    void read(std::span<std::byte> bytes) const;
    void write(std::span<const std::byte> bytes) const;
    /// Copies the texels of a box of the view's first mip, in all of its layers; in NumPy's order, too.
    void read_region(const Dims& offset, const Dims& extent, std::span<std::byte> bytes) const;
    void write_region(const Dims& offset, const Dims& extent, std::span<const std::byte> bytes) const;

    /// Copies on the device, from and to the view's first mip. The tensor has the format's scalars and is
    /// contiguous: [layers,] [d,] h, w of vectors of the channels, or with the channels as its last
    /// dimension.
    void copy_from(const AnyTensor& tensor) const;
    void copy_to(const AnyTensor& tensor) const;
    /// A new tensor of [layers,] [d,] h, w vectors.
    [[nodiscard]] AnyTensor to_tensor() const;

    /// Fills the view's mips from its first one: a texel is the linear sample of the mip before at its own
    /// middle. Formats of integers have none.
    void generate_mips() const;

    /// Returns it for parameters that are both in one (Sampler2D); without_sampler() undoes that.
    [[nodiscard]] AnyTexture with_sampler(const Sampler& sampler) const;
    [[nodiscard]] AnyTexture without_sampler() const;
    /// Returns the sampler; null where there is none.
    [[nodiscard]] const Sampler& sampler() const;

    /// Returns whether both are views of the same texels, with whatever samplers.
    [[nodiscard]] bool is_same_view(const AnyTexture& other) const;

    explicit AnyTexture(std::shared_ptr<const detail::TextureState> state) : state_(std::move(state)) {}
    [[nodiscard]] const std::shared_ptr<const detail::TextureState>& state() const { return state_; }

private:
    std::shared_ptr<const detail::TextureState> state_;
};

}  // namespace kf
