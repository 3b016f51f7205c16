// What drivers make of textures and samplers, and what commands are given of them.
#pragma once

#include <kf/sampler.h>
#include <kf/texture_format.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/awaited.h"

namespace kf::driver {

enum class ImageDimension : std::uint8_t { one, two, three, cube };

/// Texels of the largest mip; extents of a mip are halved and rounded down, and 1 at least.
struct ImageShape {
    ImageDimension dimension = ImageDimension::two;
    TextureFormat format = TextureFormat::rgba32f;
    std::uint32_t width = 1;
    std::uint32_t height = 1;  ///< 1 of one dimension
    std::uint32_t depth = 1;   ///< 1 but of three dimensions
    std::uint32_t mips = 1;
    std::uint32_t layers = 1;  ///< of a cube its 6 faces, of more cubes 6 each
    bool is_writable = false;  ///< kernels may write to it

    bool operator==(const ImageShape&) const = default;
};

/// Texels of an image; freed once the last owner and the last submission that uses it are done. Thread-safe.
class Image : public std::enable_shared_from_this<Image>, public Awaited {
public:
    virtual ~Image() = default;
    ImageShape shape;
    const void* home = nullptr;  ///< as Allocation::home
};

/// An image that somebody else owns, as Device::wrap_image() takes it.
struct ForeignImage {
    std::uint64_t handle = 0;   ///< Vulkan: a VkImage of the device's. CUDA: a CUarray, or a CUmipmappedArray
    ImageShape shape;           ///< as it was made; is_writable where it was made for storage (surfaces)
    std::uint32_t layout = 0;   ///< Vulkan: the VkImageLayout that it is in, and is left in behind each batch
    bool is_mipmapped = false;  ///< CUDA: the handle is a CUmipmappedArray
    std::shared_ptr<void> owner;  ///< keeps it; null where the caller does
};

/// A box of texels in one mip of some layers.
struct ImageRegion {
    std::uint32_t mip = 0;
    std::uint32_t first_layer = 0;
    std::uint32_t layers = 1;
    std::array<std::uint32_t, 3> offset{};         ///< x, y, z
    std::array<std::uint32_t, 3> extent{1, 1, 1};  ///< x, y, z
};

/// Mips and layers of an image, as a kernel sees them.
struct ImageRange {
    std::uint32_t first_mip = 0;
    std::uint32_t mips = 1;
    std::uint32_t first_layer = 0;
    std::uint32_t layers = 1;
    ImageDimension dimension = ImageDimension::two;  ///< faces of cubes are seen as 2D arrays, too
    bool is_array = false;

    bool operator==(const ImageRange&) const = default;
};

using kf::Compare;
using kf::Filter;
using Address = kf::AddressMode;

/// How texels are sampled.
struct SamplerDescription {
    Filter minify = Filter::linear;
    Filter magnify = Filter::linear;
    Filter mip = Filter::linear;
    std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};  ///< along x, y, z
    Compare compare = Compare::none;  ///< none: it isn't a comparison sampler
    float anisotropy = 1;             ///< 1: none
    float lod_bias = 0;
    float lod_min = 0;
    float lod_max = 1000;
    std::array<float, 4> border{};  ///< transparent black, opaque black or opaque white

    bool operator==(const SamplerDescription&) const = default;
};

/// A sampler of a device's; equal descriptions may share one. Thread-safe.
class Sampler : public std::enable_shared_from_this<Sampler> {
public:
    virtual ~Sampler() = default;
    SamplerDescription description;
    const void* home = nullptr;  ///< as Allocation::home
};

/// An image as a resource of a kernel's.
struct ImageBinding {
    std::shared_ptr<Image> image;
    ImageRange range;
    std::shared_ptr<Sampler> sampler;  ///< of a combined texture and sampler; else null
};

struct SamplerBinding {
    std::shared_ptr<Sampler> sampler;
};

}  // namespace kf::driver
