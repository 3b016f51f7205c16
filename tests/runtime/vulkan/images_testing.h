// What the tests of textures share: kernels that load, add and sample, texels as bytes and as numbers.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "core/image_checks.h"
#include "testing.h"

namespace kf::test {

using driver::Image;
using driver::ImageDimension;
using driver::ImageRange;
using driver::ImageRegion;
using driver::ImageShape;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;
using ImagePtr = std::shared_ptr<Image>;

inline constexpr ImageDimension one = ImageDimension::one;
inline constexpr ImageDimension two = ImageDimension::two;
inline constexpr ImageDimension three = ImageDimension::three;
inline constexpr ImageDimension cube = ImageDimension::cube;

struct LoadBlock {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t layer = 0;
    std::int32_t mip = 0;
    std::uint32_t width = 1;
    std::uint32_t height = 1;
};
struct AddBlock {
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    float step = 0;
};
struct SampleBlock {
    float x = 0;
    float y = 0;
    float step = 0;
    float lod = 0;
    std::uint32_t count = 1;
};

inline manifest::ResourceSlot texture_slot(const char* name, bool is_array = false) {
    manifest::ResourceSlot slot;
    slot.name = name;
    slot.kind = manifest::ResourceKind::texture;
    slot.is_array = is_array;
    slot.texel = "float";
    return slot;
}

inline manifest::ResourceSlot buffer_slot() {
    manifest::ResourceSlot slot;
    slot.name = "target";
    slot.writes = true;
    slot.stride = 16;
    return slot;
}

inline manifest::Kernel load_kernel() {
    manifest::Kernel kernel = spirv_kernel("texture_load", "texture_load", {64, 1, 1},
                                           {sizeof(LoadBlock), {}, manifest::Passing::value, {0, 1}});
    kernel.resources = {texture_slot("source", true), buffer_slot()};
    return kernel;
}

inline manifest::Kernel add_kernel() {
    manifest::Kernel kernel = spirv_kernel("texture_add", "texture_add", {8, 8, 1},
                                           {sizeof(AddBlock), {}, manifest::Passing::value, {0, 2}});
    kernel.images[0].features.emplace_back("storage_image_write_any");
    manifest::ResourceSlot target = texture_slot("target");
    target.kind = manifest::ResourceKind::writable_texture;
    target.writes = true;
    kernel.resources = {target, texture_slot("source")};
    return kernel;
}

inline manifest::Kernel sample_kernel(const std::string& name = "texture_sample") {
    manifest::Kernel kernel =
        spirv_kernel(name, name, {64, 1, 1}, {sizeof(SampleBlock), {}, manifest::Passing::value, {0, 1, 2}});
    manifest::ResourceSlot sampler;
    sampler.name = "sampler";
    sampler.kind = manifest::ResourceKind::sampler;
    kernel.resources = {texture_slot("source"), sampler, buffer_slot()};
    return kernel;
}

template <class Commands, class Block>
void run(Commands& commands, const std::shared_ptr<driver::Kernel>& kernel, const driver::Grid& groups,
         const Block& block, const std::vector<driver::Resource>& resources) {
    driver::Dispatch dispatch;
    dispatch.kernel = kernel.get();
    dispatch.groups = groups;
    dispatch.block = std::as_bytes(std::span(&block, 1));
    dispatch.resources = resources;
    commands.dispatch(dispatch);
}

/// A mip of a layer as a 2D texture.
inline ImageRange mip_of(std::uint32_t mip, std::uint32_t layer = 0) {
    return {mip, 1, layer, 1, two, false};
}

/// Has the kernel add: target = source + step, in mips of one layer.
template <class Commands>
void add(Commands& commands, const std::shared_ptr<driver::Kernel>& kernel, const ImagePtr& target,
         const ImagePtr& source, float step, const ImageRange& to = mip_of(0),
         const ImageRange& from = mip_of(0)) {
    const auto extent = driver::mip_extent(target->shape, to.first_mip);
    run(commands, kernel, {(extent[0] + 7) / 8, (extent[1] + 7) / 8, 1}, AddBlock{extent[0], extent[1], step},
        {driver::ImageBinding{target, to, nullptr}, driver::ImageBinding{source, from, nullptr}});
}

inline Bytes random_bytes(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

inline ImageRegion whole_mip(const ImageShape& shape, std::uint32_t mip) {
    return {mip, 0, shape.layers, {}, driver::mip_extent(shape, mip)};
}

inline Bytes read_texels(driver::Device& device, const ImagePtr& image, const ImageRegion& region) {
    Bytes bytes(driver::region_bytes(image->shape, region), std::byte{0xA5});
    device.read_back_image(image, region, bytes);
    return bytes;
}

inline Bytes read_mip(driver::Device& device, const ImagePtr& image, std::uint32_t mip = 0) {
    return read_texels(device, image, whole_mip(image->shape, mip));
}

template <class T>
std::vector<T> as(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

template <class T>
inline Bytes bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

inline double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10U & 31U;
    const double mantissa = bits & 1023U;
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
}

/// What shaders read of a component's bits.
inline double value_of(const TextureFormatInfo& format, const std::byte* bits, std::size_t component) {
    std::uint32_t word = 0;
    const std::size_t size = size_of(format.scalar);
    std::memcpy(&word, bits + component * size, size);
    const auto integer = [&]() -> double {
        return size == 1 ? static_cast<std::int8_t>(word) : static_cast<std::int16_t>(word);
    };
    switch (format.texel) {
        case TexelClass::unorm: return word / (size == 1 ? 255.0 : 65535.0);
        case TexelClass::snorm: return std::max(integer() / (size == 1 ? 127.0 : 32767.0), -1.0);
        case TexelClass::srgb: {
            const double v = word / 255.0;
            if (component == 3) return v;
            return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
        }
        default: break;
    }
    if (size == 2) return half_value(static_cast<std::uint16_t>(word));
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

/// Bits of floats that are none too large and not infinite.
inline Bytes random_texels(const TextureFormatInfo& format, std::size_t count, unsigned seed) {
    Bytes bytes = random_bytes(count * format.size(), seed);
    if (format.texel != TexelClass::floating) return bytes;
    const std::size_t size = size_of(format.scalar);
    for (std::size_t i = size - 1; i < bytes.size(); i += size) {
        // The exponent's upper bits: numbers between 2^-15 and 2.
        bytes[i] = (bytes[i] & std::byte{0x83}) | std::byte{0x38};
    }
    return bytes;
}

class ImagesTest : public ::testing::Test {
protected:
    void SetUp() override { device_ = vulkan::open_vulkan(0); }
    void TearDown() override {
        device_->wait();
        EXPECT_THAT(vulkan::validation_messages(*device_), ::testing::IsEmpty());
    }

    ImagePtr make(ImageShape shape) { return device_->make_image(shape); }
    ImagePtr make(ImageDimension dimension, TextureFormat format, const driver::Grid& extents,
                  std::uint32_t mips = 1, std::uint32_t layers = 1, bool is_writable = false) {
        return make({dimension, format, extents[0], extents[1], extents[2], mips, layers, is_writable});
    }
    /// A writable one of floats, all of them `value`.
    ImagePtr floats(std::uint32_t width, std::uint32_t height, float value, std::uint32_t mips = 1) {
        auto image = make(two, TextureFormat::r32f, {width, height, 1}, mips, 1, true);
        for (std::uint32_t mip = 0; mip < mips; ++mip) {
            const ImageRegion region = whole_mip(image->shape, mip);
            device_->upload_image(image, region,
                                  bytes_of(Floats(driver::region_bytes(image->shape, region) / 4, value)));
        }
        return image;
    }
    Floats values(const ImagePtr& image, std::uint32_t mip = 0) {
        return as<float>(read_mip(*device_, image, mip));
    }
    vulkan::Statistics used() {
        device_->wait();
        return vulkan::statistics(*device_);
    }

    std::shared_ptr<driver::Device> device_;
};

}  // namespace kf::test
