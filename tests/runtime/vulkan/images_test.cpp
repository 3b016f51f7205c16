// Tests of textures and samplers on a Vulkan device that must stay silent.
#include <cmath>
#include <cstring>
#include <random>

#include "application.h"
#include "core/image_checks.h"
#include "runtime/fake_driver/vulkan.h"
#include "testing.h"

namespace kf::test {
namespace {

using driver::Image;
using driver::ImageDimension;
using driver::ImageRange;
using driver::ImageRegion;
using driver::ImageShape;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;
using ImagePtr = std::shared_ptr<Image>;

constexpr ImageDimension one = ImageDimension::one;
constexpr ImageDimension two = ImageDimension::two;
constexpr ImageDimension three = ImageDimension::three;
constexpr ImageDimension cube = ImageDimension::cube;

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

manifest::ResourceSlot texture_slot(const char* name, bool is_array = false) {
    manifest::ResourceSlot slot;
    slot.name = name;
    slot.kind = manifest::ResourceKind::texture;
    slot.is_array = is_array;
    slot.texel = "float";
    return slot;
}

manifest::ResourceSlot buffer_slot() {
    manifest::ResourceSlot slot;
    slot.name = "target";
    slot.writes = true;
    slot.stride = 16;
    return slot;
}

manifest::Kernel load_kernel() {
    manifest::Kernel kernel = spirv_kernel("texture_load", "texture_load", {64, 1, 1},
                                           {sizeof(LoadBlock), {}, manifest::Passing::value, {0, 1}});
    kernel.resources = {texture_slot("source", true), buffer_slot()};
    return kernel;
}

manifest::Kernel add_kernel() {
    manifest::Kernel kernel = spirv_kernel("texture_add", "texture_add", {8, 8, 1},
                                           {sizeof(AddBlock), {}, manifest::Passing::value, {0, 2}});
    kernel.images[0].features.emplace_back("storage_image_write_any");
    manifest::ResourceSlot target = texture_slot("target");
    target.kind = manifest::ResourceKind::writable_texture;
    target.writes = true;
    kernel.resources = {target, texture_slot("source")};
    return kernel;
}

manifest::Kernel sample_kernel() {
    manifest::Kernel kernel = spirv_kernel("texture_sample", "texture_sample", {64, 1, 1},
                                           {sizeof(SampleBlock), {}, manifest::Passing::value, {0, 1, 2}});
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
ImageRange mip_of(std::uint32_t mip, std::uint32_t layer = 0) { return {mip, 1, layer, 1, two, false}; }

/// Has the kernel add: target = source + step, in mips of one layer.
template <class Commands>
void add(Commands& commands, const std::shared_ptr<driver::Kernel>& kernel, const ImagePtr& target,
         const ImagePtr& source, float step, const ImageRange& to = mip_of(0),
         const ImageRange& from = mip_of(0)) {
    const auto extent = driver::mip_extent(target->shape, to.first_mip);
    run(commands, kernel, {(extent[0] + 7) / 8, (extent[1] + 7) / 8, 1}, AddBlock{extent[0], extent[1], step},
        {driver::ImageBinding{target, to, nullptr}, driver::ImageBinding{source, from, nullptr}});
}

Bytes random_bytes(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

ImageRegion whole_mip(const ImageShape& shape, std::uint32_t mip) {
    return {mip, 0, shape.layers, {}, driver::mip_extent(shape, mip)};
}

Bytes read_texels(driver::Device& device, const ImagePtr& image, const ImageRegion& region) {
    Bytes bytes(driver::region_bytes(image->shape, region), std::byte{0xA5});
    device.read_back_image(image, region, bytes);
    return bytes;
}

Bytes read_mip(driver::Device& device, const ImagePtr& image, std::uint32_t mip = 0) {
    return read_texels(device, image, whole_mip(image->shape, mip));
}

template <class T>
std::vector<T> as(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10U & 31U;
    const double mantissa = bits & 1023U;
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
}

/// What shaders read of a component's bits.
double value_of(const TextureFormatInfo& format, const std::byte* bits, std::size_t component) {
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
Bytes random_texels(const TextureFormatInfo& format, std::size_t count, unsigned seed) {
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
        EXPECT_THAT(vulkan::validation_messages(*device_), IsEmpty());
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

TEST_F(ImagesTest, EveryFormatComesBack) {
    unsigned seed = 1;
    for (std::size_t i = 0; i < texture_formats.size(); ++i) {
        const auto format = static_cast<TextureFormat>(i);
        const bool is_writable = format != TextureFormat::rgba8_srgb;
        const std::vector<ImageShape> shapes{{one, format, 257, 1, 1, 9, 3, is_writable},
                                             {two, format, 33, 7, 1, 6, 2, false},
                                             {two, format, 1, 1, 1, 1, 1, is_writable},
                                             {three, format, 7, 1, 33, 3, 1, is_writable},
                                             {cube, format, 7, 7, 1, 2, 12, false}};
        for (const ImageShape& shape : shapes) {
            const auto image = make(shape);
            std::vector<Bytes> mips;
            for (std::uint32_t mip = 0; mip < shape.mips; ++mip) {
                const ImageRegion region = whole_mip(shape, mip);
                mips.push_back(random_bytes(driver::region_bytes(shape, region), seed++));
                device_->upload_image(image, region, mips.back());
            }
            for (std::uint32_t mip = 0; mip < shape.mips; ++mip) {
                EXPECT_TRUE(read_mip(*device_, image, mip) == mips[mip])
                    << driver::to_string(shape) << " mip " << mip;
            }
        }
    }
}

TEST_F(ImagesTest, RegionsTouchNothingElse) {
    const auto image = make(two, TextureFormat::rg16ui, {33, 7, 1}, 2, 3);
    Bytes expected = random_bytes(33 * 7 * 3 * 4, 1);
    const Bytes second = random_bytes(16 * 3 * 3 * 4, 2);
    device_->upload_image(image, whole_mip(image->shape, 0), expected);
    device_->upload_image(image, whole_mip(image->shape, 1), second);
    const ImageRegion region{0, 1, 2, {5, 2, 0}, {17, 3, 1}};
    const Bytes part = random_bytes(17 * 3 * 2 * 4, 3);
    device_->upload_image(image, region, part);
    for (std::size_t layer = 0; layer < 2; ++layer) {
        for (std::size_t y = 0; y < 3; ++y) {
            std::copy_n(
                part.begin() + static_cast<std::ptrdiff_t>((layer * 3 + y) * 17 * 4), 17 * 4,
                expected.begin() + static_cast<std::ptrdiff_t>((((layer + 1) * 7 + y + 2) * 33 + 5) * 4));
        }
    }
    EXPECT_EQ(read_mip(*device_, image), expected);
    EXPECT_EQ(read_mip(*device_, image, 1), second);
    EXPECT_EQ(read_texels(*device_, image, region), part);

    const auto deep = make(three, TextureFormat::r8, {7, 5, 9});
    Bytes texels(7 * 5 * 9, std::byte{1});
    device_->upload_image(deep, whole_mip(deep->shape, 0), texels);
    device_->upload_image(deep, {0, 0, 1, {6, 4, 7}, {1, 1, 2}}, Bytes(2, std::byte{9}));
    texels[7 * 5 * 7 + 34] = texels[7 * 5 * 8 + 34] = std::byte{9};
    EXPECT_EQ(read_mip(*device_, deep), texels);
    device_->upload_image(deep, {0, 0, 1, {7, 5, 9}, {0, 0, 0}}, {});
}

TEST_F(ImagesTest, LargerOnesThanStagingMemory) {
    const auto image = make(two, TextureFormat::rgba32f, {1025, 300, 1}, 1, 2);
    const Bytes texels = random_bytes(std::size_t{1025} * 300 * 16 * 2, 1);
    device_->upload_image(image, whole_mip(image->shape, 0), texels);
    EXPECT_TRUE(read_mip(*device_, image) == texels);
    const auto line = make(one, TextureFormat::rgba32ui, {16384, 1, 1}, 1, 33);
    const Bytes numbers = random_bytes(std::size_t{16384} * 16 * 33, 2);
    device_->upload_image(line, whole_mip(line->shape, 0), numbers);
    EXPECT_TRUE(read_mip(*device_, line) == numbers);
}

TEST_F(ImagesTest, CopiesToAndFromMemory) {
    const auto image = make(two, TextureFormat::rgba16f, {33, 7, 1}, 2, 2);
    const Bytes texels = random_bytes(std::size_t{33} * 7 * 8 * 2, 1);
    const auto memory = device_->allocate(texels.size() + 24);
    device_->fill(memory, 0, memory->size / 4 * 4, poison);
    device_->upload(memory, 16, texels);
    device_->copy_to_image(image, whole_mip(image->shape, 0), memory, 16);
    device_->fill(memory, 0, memory->size / 4 * 4, poison);  // behind the copy
    EXPECT_EQ(read_mip(*device_, image), texels);
    const ImageRegion part{0, 1, 1, {2, 3, 0}, {5, 2, 1}};
    device_->copy_from_image(memory, 8, image, part);
    Bytes expected = bytes_of(Words(memory->size / 4, poison));
    const Bytes found = read_texels(*device_, image, part);
    std::ranges::copy(found, expected.begin() + 8);
    Bytes all(memory->size);
    device_->read_back(memory, 0, all);
    EXPECT_EQ(all, expected);
    EXPECT_THAT(
        error_of([&] { device_->copy_to_image(image, part, memory, 4); }),
        HasSubstr("layout-mismatch: vulkan: texels of rgba16f are copied at multiples of 8 bytes, not "
                  "at "));
    EXPECT_THAT(error_of([&] { device_->copy_to_image(image, whole_mip(image->shape, 0), memory, 32); }),
                HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->copy_from_image(nullptr, 0, image, part); }),
                HasSubstr("device-mismatch"));
}

TEST_F(ImagesTest, KernelsReadEveryFormatOfFloats) {
    const auto kernel = device_->load_kernel(load_kernel());
    const auto target = device_->allocate(std::size_t{40} * 10 * 16);
    for (std::size_t i = 0; i < texture_formats.size(); ++i) {
        const TextureFormatInfo& format = texture_formats[i];
        if (!format.is_float()) continue;
        const auto image = make(two, static_cast<TextureFormat>(i), {33, 7, 1}, 2, 3);
        const Bytes texels = random_texels(format, std::size_t{33} * 7 * 3, 1 + static_cast<unsigned>(i));
        device_->upload_image(image, whole_mip(image->shape, 0), texels);
        // Devices decode sRGB less exactly.
        const double step = format.texel == TexelClass::srgb ? 2e-3 : 0;
        device_->fill(target, 0, target->size, poison);
        // From one texel before the first to some behind the last.
        run(*device_, kernel, {7, 1, 1}, LoadBlock{-1, -1, 2, 0, 40, 10},
            {driver::ImageBinding{image, {0, 2, 0, 3, two, true}, nullptr}, range(target)});
        Floats found(target->size / 4);
        device_->read_back(target, 0, std::as_writable_bytes(std::span(found)));
        std::size_t wrong = 0;
        for (std::size_t texel = 0; texel < 400; ++texel) {
            const std::size_t x = texel % 40 - 1;
            const std::size_t y = texel / 40 - 1;
            const bool inside = x < 33 && y < 7;
            const std::byte* bits = texels.data() + ((2 * 7 + y) * 33 + x) * format.size();
            for (std::size_t c = 0; c < 4; ++c) {
                double expected = inside && c == 3 ? 1 : 0;
                if (inside && c < format.components) expected = value_of(format, bits, c);
                const double value = found[texel * 4 + c];
                // Out of range the alpha of a format without one may be 1, Vulkan says.
                const bool may_be_one = !inside && c == 3 && format.components < 4 && value == 1;
                wrong +=
                    std::abs(value - expected) > step + 1e-6 * (std::abs(expected) + 1e-3) && !may_be_one;
            }
        }
        EXPECT_EQ(wrong, 0U) << format.name;
    }
    // Layers and mips out of range.
    const auto image = make(two, TextureFormat::rgba8, {7, 7, 1}, 2, 2);
    for (std::uint32_t mip = 0; mip < 2; ++mip) {
        const ImageRegion region = whole_mip(image->shape, mip);
        device_->upload_image(image, region,
                              Bytes(driver::region_bytes(image->shape, region), std::byte{255}));
    }
    for (const LoadBlock block : {LoadBlock{0, 0, 0, 2, 7, 7}, LoadBlock{3, 0, 0, 1, 4, 7},
                                  LoadBlock{0, 0, 0, -1, 7, 7}, LoadBlock{-100, 0, 0, 0, 7, 7}}) {
        device_->fill(target, 0, target->size, poison);
        run(*device_, kernel, {1, 1, 1}, block,
            {driver::ImageBinding{image, {0, 2, 0, 2, two, true}, nullptr}, range(target)});
        const Words found = read(*device_, target);
        const std::size_t count = std::size_t{block.width} * block.height * 4;
        EXPECT_THAT(std::vector(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count)), Each(0U))
            << block.x << " " << block.layer << " " << block.mip;
        EXPECT_EQ(found[count], poison);
    }
}

TEST_F(ImagesTest, KernelsWriteEveryFormatOfFloats) {
    const auto kernel = device_->load_kernel(add_kernel());
    const auto source = make(two, TextureFormat::rgba32f, {33, 7, 1});
    Floats numbers(std::size_t{33} * 7 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(static_cast<int>(i % 301) - 150) / 100;  // clamped outside of [-1, 1]
    }
    device_->upload_image(source, whole_mip(source->shape, 0), bytes_of(numbers));
    for (std::size_t i = 0; i < texture_formats.size(); ++i) {
        const TextureFormatInfo& format = texture_formats[i];
        if (!format.is_float() || format.texel == TexelClass::srgb) continue;
        const auto target = make(two, static_cast<TextureFormat>(i), {33, 7, 1}, 1, 1, true);
        add(*device_, kernel, target, source, 0);
        const Bytes found = read_mip(*device_, target);
        const double least = format.texel == TexelClass::unorm   ? 0
                             : format.texel == TexelClass::snorm ? -1
                                                                 : -2;
        const double most = format.texel == TexelClass::floating ? 2 : 1;
        const double step = size_of(format.scalar) == 1 ? 0.51 / 127 : 1e-3;
        std::size_t wrong = 0;
        for (std::size_t texel = 0; texel < std::size_t{33} * 7; ++texel) {
            for (std::size_t c = 0; c < format.components; ++c) {
                const double value = value_of(format, found.data() + texel * format.size(), c);
                const double expected = std::clamp<double>(numbers[texel * 4 + c], least, most);
                wrong += std::abs(value - expected) > step;
            }
        }
        EXPECT_EQ(wrong, 0U) << format.name;
    }
    // Stores out of range are dropped.
    const auto small = floats(5, 3, 4);
    run(*device_, kernel, {8, 8, 1}, AddBlock{64, 64, 1},
        {driver::ImageBinding{small, mip_of(0), nullptr}, driver::ImageBinding{source, mip_of(0), nullptr}});
    EXPECT_EQ(values(small)[0], numbers[0] + 1);
    EXPECT_EQ(values(small)[14], numbers[(2 * 33 + 4) * 4] + 1);
}

TEST_F(ImagesTest, WhatIsWrittenIsReadNext) {
    const auto kernel = device_->load_kernel(add_kernel());
    auto a = floats(33, 7, 1);
    auto b = floats(33, 7, 0);
    for (int i = 0; i < 100; ++i) {  // over several batches
        add(*device_, kernel, b, a, 1);
        std::swap(a, b);
    }
    EXPECT_THAT(values(a), Each(101.F));
    EXPECT_THAT(values(b), Each(100.F));
    // In place, where it has to be in one layout.
    add(*device_, kernel, a, a, 5);
    add(*device_, kernel, a, a, 5);
    EXPECT_THAT(values(a), Each(111.F));
    // A transfer, a kernel and a transfer again.
    const auto memory = device_->allocate(33 * 7 * 4);
    for (int i = 0; i < 5; ++i) {
        device_->copy_from_image(memory, 0, a, whole_mip(a->shape, 0));
        device_->copy_to_image(b, whole_mip(b->shape, 0), memory, 0);
        add(*device_, kernel, a, b, 1);
    }
    EXPECT_THAT(values(a), Each(116.F));
    // Fresh ones: texels that nobody has defined are overwritten.
    const auto fresh = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    add(*device_, kernel, fresh, a, 4);
    EXPECT_THAT(values(fresh), Each(120.F));
}

TEST_F(ImagesTest, MipsAndLayersAreApart) {
    const auto kernel = device_->load_kernel(add_kernel());
    const auto chain = floats(64, 64, 1, 7);
    for (std::uint32_t mip = 1; mip < 7; ++mip) {
        add(*device_, kernel, chain, chain, 1, mip_of(mip), mip_of(mip - 1));
    }
    for (std::uint32_t mip = 0; mip < 7; ++mip) {
        EXPECT_THAT(values(chain, mip), Each(1.F + static_cast<float>(mip)));
    }
    // All mips are sampled while one of them is written: the first is read.
    add(*device_, kernel, chain, chain, 10, mip_of(3), {0, 7, 0, 1, two, false});
    EXPECT_THAT(values(chain, 3), Each(11.F));
    EXPECT_THAT(values(chain, 2), Each(3.F));
    const auto layers = make(two, TextureFormat::r32f, {7, 7, 1}, 1, 5, true);
    device_->upload_image(layers, whole_mip(layers->shape, 0), bytes_of(Floats(49 * 5, 1)));
    for (std::uint32_t layer = 1; layer < 5; ++layer) {
        add(*device_, kernel, layers, layers, 1, mip_of(0, layer), mip_of(0, layer - 1));
    }
    const Floats found = values(layers);
    for (std::size_t layer = 0; layer < 5; ++layer) {
        EXPECT_EQ(found[layer * 49 + 48], 1.F + static_cast<float>(layer));
    }
}

TEST_F(ImagesTest, RecordedCommandsFindTheirLayouts) {
    const auto kernel = device_->load_kernel(add_kernel());
    auto a = floats(33, 7, 1);
    const auto fresh = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    auto first = device_->make_recorder();
    auto second = device_->make_recorder();
    add(*second, kernel, a, fresh, 10);
    add(*first, kernel, fresh, a, 1);
    add(*first, kernel, a, fresh, 1);
    add(*second, kernel, fresh, a, 100);
    add(*device_, kernel, a, a, 1000);
    device_->submit(std::move(first));
    add(*device_, kernel, a, a, 1000);
    device_->submit(std::move(second));
    EXPECT_THAT(values(a), Each(1012.F));
    EXPECT_THAT(values(fresh), Each(1112.F));

    const auto graph = device_->make_graph();
    const auto only_here = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    add(*graph, kernel, only_here, a, 1);
    add(*graph, kernel, a, only_here, 1);
    for (int i = 0; i < 5; ++i) {
        device_->replay(*graph);
        device_->replay(*graph);
        add(*device_, kernel, fresh, a, 0);
        const AddBlock block{33, 7, 2};
        graph->set_block(1, std::as_bytes(std::span(&block, 1)));
    }
    EXPECT_THAT(values(fresh), Each(1012.F + 2 * 2 + 8 * 3));
    EXPECT_THAT(values(a), Each(1012.F + 2 * 2 + 8 * 3));
}

TEST_F(ImagesTest, GoOnlyWhenTheyAreDone) {
    const auto kernel = device_->load_kernel(add_kernel());
    const auto sum = floats(257, 33, 0);
    const std::uint64_t before = used().images_used;
    for (int i = 0; i < 20; ++i) {
        const auto temporary = make(two, TextureFormat::r32f, {257, 33, 1}, 1, 1, true);
        add(*device_, kernel, temporary, sum, 1);
        add(*device_, kernel, sum, temporary, 1);
    }
    EXPECT_THAT(values(sum), Each(40.F));
    EXPECT_EQ(used().images_used, before);
    // What a graph alone has.
    const auto graph = device_->make_graph();
    {
        const auto temporary = floats(257, 33, 7);
        add(*graph, kernel, sum, temporary, 1);
    }
    device_->replay(*graph);
    EXPECT_THAT(values(sum), Each(8.F));
    EXPECT_GT(used().images_used, before);
}

TEST_F(ImagesTest, ThousandsOfThemInAFewPiecesOfMemory) {
    const auto kernel = device_->load_kernel(load_kernel());
    const auto target = device_->allocate(3008 * 16);
    std::vector<ImagePtr> images;
    const auto none = used();
    for (std::uint32_t i = 0; i < 3000; ++i) {
        images.push_back(make(two, TextureFormat::rgba32f, {1 + i % 7, 1 + i % 3, 1}));
        const float number = static_cast<float>(i);
        device_->upload_image(images.back(), {0, 0, 1, {}, {1, 1, 1}},
                              bytes_of(Floats{number, -number, 0, 1}));
    }
    EXPECT_LT(used().image_blocks, 8U);
    EXPECT_GT(used().images_used, none.images_used);
    for (std::size_t i = 0; i < images.size(); ++i) {
        run(*device_, kernel, {1, 1, 1}, LoadBlock{},
            {driver::ImageBinding{images[i], {0, 1, 0, 1, two, true}, nullptr},
             driver::BufferRange{target, i / 16 * 256, 256}});
        if (i % 16 == 15) {
            Floats found(64);
            device_->read_back(target, i / 16 * 256, std::as_writable_bytes(std::span(found)));
            ASSERT_EQ(found[0], static_cast<float>(i));
        }
    }
    images.clear();
    EXPECT_EQ(used().images_used, none.images_used);
}

TEST_F(ImagesTest, MipsAreMade) {
    for (const ImageShape& shape : {ImageShape{two, TextureFormat::rgba32f, 33, 7, 1, 6, 2, true},
                                    ImageShape{one, TextureFormat::rg16f, 257, 1, 1, 9, 1, false},
                                    ImageShape{three, TextureFormat::r32f, 7, 33, 5, 6, 1, false},
                                    ImageShape{cube, TextureFormat::rgba8, 16, 16, 1, 5, 6, false},
                                    ImageShape{two, TextureFormat::rgba8_srgb, 33, 33, 1, 3, 1, false}}) {
        const TextureFormatInfo& format = info_of(shape.format);
        const auto image = make(shape);
        const Bytes texels = random_texels(
            format, driver::region_bytes(shape, whole_mip(shape, 0)) / format.size(), shape.width);
        device_->upload_image(image, whole_mip(shape, 0), texels);
        device_->generate_mips(image, {0, shape.mips, 0, shape.layers, shape.dimension, false});
        Bytes before = texels;
        for (std::uint32_t mip = 1; mip < shape.mips; ++mip) {
            const Bytes found = read_mip(*device_, image, mip);
            const auto from = driver::mip_extent(shape, mip - 1);
            const auto to = driver::mip_extent(shape, mip);
            // The linear sample of the mip before at the texel's middle.
            const auto weights = [&](std::size_t d, std::uint32_t i) {
                const double middle = (i + 0.5) * from.at(d) / to.at(d) - 0.5;
                const double below = std::floor(middle);
                const auto clamped = [&](double at) {
                    return static_cast<std::size_t>(std::clamp(at, 0.0, from.at(d) - 1.0));
                };
                return std::array<std::pair<std::size_t, double>, 2>{
                    std::pair{clamped(below), 1 - (middle - below)},
                    std::pair{clamped(below + 1), middle - below}};
            };
            double worst = 0;
            std::size_t texel = 0;
            for (std::size_t layer = 0; layer < shape.layers; ++layer) {
                for (std::uint32_t z = 0; z < to[2]; ++z) {
                    for (std::uint32_t y = 0; y < to[1]; ++y) {
                        for (std::uint32_t x = 0; x < to[0]; ++x, ++texel) {
                            for (std::size_t c = 0; c < format.components; ++c) {
                                double expected = 0;
                                for (const auto& [zi, zw] : weights(2, z)) {
                                    for (const auto& [yi, yw] : weights(1, y)) {
                                        for (const auto& [xi, xw] : weights(0, x)) {
                                            const std::size_t place =
                                                ((layer * from[2] + zi) * from[1] + yi) * from[0] + xi;
                                            expected +=
                                                zw * yw * xw *
                                                value_of(format, before.data() + place * format.size(), c);
                                        }
                                    }
                                }
                                const double value =
                                    value_of(format, found.data() + texel * format.size(), c);
                                worst = std::max(worst, std::abs(value - expected));
                            }
                        }
                    }
                }
            }
            // Devices have 8 bits for the weights of a filter.
            EXPECT_LT(worst, 0.02) << driver::to_string(shape) << " mip " << mip;
            before = found;
        }
    }
    const auto some = floats(16, 16, 1, 5);
    device_->upload_image(some, whole_mip(some->shape, 1), bytes_of(Floats(64, 3)));
    device_->generate_mips(some, {1, 2, 0, 1, two, false});
    EXPECT_THAT(values(some, 0), Each(1.F));
    EXPECT_THAT(values(some, 2), Each(3.F));
    EXPECT_THAT(values(some, 3), Each(1.F));
    const auto numbers = make(two, TextureFormat::r32i, {7, 7, 1}, 2);
    EXPECT_EQ(error_of([&] {
                  device_->generate_mips(numbers, {0, 2, 0, 1, two, false});
              }),
              "missing-feature: vulkan: " + device_->info().name +
                  " can't make mips of a 2D texture of 7 x 7, r32i, 2 mips: it doesn't filter that format; "
                  "make them with a kernel");
    EXPECT_THAT(
        error_of([&] {
            device_->generate_mips(some, {1, 5, 0, 1, two, false});
        }),
        HasSubstr("index-range: vulkan: mips to make: 1 to 6, of a 2D texture of 16 x 16, r32f, 5 mips"));
}

class SamplersTest : public ImagesTest {
protected:
    void SetUp() override {
        ImagesTest::SetUp();
        kernel_ = device_->load_kernel(sample_kernel());
        image_ = make(two, TextureFormat::r32f, {4, 1, 1}, 3);
        for (std::uint32_t mip = 0; mip < 3; ++mip) {
            Floats texels(4U >> mip);
            std::iota(texels.begin(), texels.end(), 10.F * static_cast<float>(mip) + 1);
            device_->upload_image(image_, whole_mip(image_->shape, mip), bytes_of(texels));
        }
    }
    /// Samples 33 times from -0.5 to 1.5.
    Floats sample(const driver::SamplerDescription& description, float lod = 0) {
        constexpr std::uint32_t count = 33;
        const auto target = device_->allocate(count * 16);
        run(*device_, kernel_, {1, 1, 1}, SampleBlock{-0.5F, 0.5F, 2.F / 32, lod, count},
            {driver::ImageBinding{image_, {0, 3, 0, 1, two, false}, nullptr},
             driver::SamplerBinding{device_->make_sampler(description)}, range(target)});
        Floats all(std::size_t{count} * 4);
        device_->read_back(target, 0, std::as_writable_bytes(std::span(all)));
        Floats found;
        for (std::size_t i = 0; i < count; ++i) found.push_back(all[i * 4]);
        return found;
    }

    std::shared_ptr<driver::Kernel> kernel_;
    ImagePtr image_;
};

TEST_F(SamplersTest, FilterAndAddress) {
    using driver::Address;
    using driver::Filter;
    for (const Address address : {Address::repeat, Address::mirror, Address::clamp, Address::border}) {
        for (const Filter filter : {Filter::nearest, Filter::linear}) {
            driver::SamplerDescription description;
            description.minify = description.magnify = filter;
            description.mip = Filter::nearest;
            description.address = {address, address, address};
            description.border = {1, 1, 1, 1};
            const auto texel = [&](int i) -> double {
                const auto number = [](int at) { return at + 1.0; };
                switch (address) {
                    case Address::repeat: return number((i % 4 + 4) % 4);
                    case Address::mirror: {
                        const int m = (i % 8 + 8) % 8;
                        return number(m < 4 ? m : 7 - m);
                    }
                    case Address::clamp: return number(std::clamp(i, 0, 3));
                    case Address::border: break;
                }
                return i < 0 || i > 3 ? 1.0 : number(i);
            };
            const Floats found = sample(description);
            for (int i = 0; i < 33; ++i) {
                const double at = (-0.5 + i * 2.0 / 32) * 4;
                if (filter == Filter::nearest) {
                    if (at == std::floor(at)) continue;  // between two texels
                    EXPECT_EQ(found[static_cast<std::size_t>(i)], texel(static_cast<int>(std::floor(at))));
                    continue;
                }
                const double middle = at - 0.5;
                const int below = static_cast<int>(std::floor(middle));
                const double part = middle - below;
                // Across the first row the border is above and below, too: one row alone, at its middle.
                EXPECT_NEAR(found[static_cast<std::size_t>(i)],
                            texel(below) * (1 - part) + texel(below + 1) * part, 0.02)
                    << static_cast<int>(address) << " at " << at;
            }
        }
    }
}

TEST_F(SamplersTest, LevelsOfDetail) {
    driver::SamplerDescription description;
    description.mip = driver::Filter::nearest;
    EXPECT_EQ(sample(description, 0)[16], 2.5F);
    EXPECT_EQ(sample(description, 1)[16], 11.5F);
    EXPECT_EQ(sample(description, 7)[16], 21.F);
    description.mip = driver::Filter::linear;
    EXPECT_NEAR(sample(description, 0.5)[16], 7.F, 0.05);
    description.lod_max = 1;
    EXPECT_EQ(sample(description, 7)[16], 11.5F);
    description.lod_min = 1;
    EXPECT_EQ(sample(description, 0)[16], 11.5F);
    description.lod_max = 1000;
    description.lod_bias = 2;
    EXPECT_EQ(sample(description, 0)[16], 21.F);
}

TEST_F(SamplersTest, EqualOnesAreOne) {
    driver::SamplerDescription description;
    const auto first = device_->make_sampler(description);
    EXPECT_EQ(device_->make_sampler(description), first);
    description.anisotropy = 4;
    const auto second = device_->make_sampler(description);
    EXPECT_NE(second, first);
    EXPECT_EQ(second->description, description);
    (void)sample(description);
    description.compare = driver::Compare::less;
    (void)device_->make_sampler(description);
}

TEST_F(SamplersTest, WhatNoneIsIsRefused) {
    const auto refusal = [&](auto change) {
        driver::SamplerDescription description;
        change(description);
        return error_of([&] { (void)device_->make_sampler(description); });
    };
    EXPECT_EQ(refusal([](auto& d) { d.anisotropy = 0.5; }),
              "value-range: vulkan: a sampler's anisotropy is at least 1, not 0.500000");
    EXPECT_THAT(refusal([](auto& d) { d.anisotropy = 1e6; }), HasSubstr("missing-feature"));
    EXPECT_THAT(refusal([](auto& d) { d.lod_min = 1001; }), HasSubstr("value-range"));
    EXPECT_THAT(refusal([](auto& d) { d.lod_bias = 1e6; }), HasSubstr("missing-feature"));
    EXPECT_THAT(refusal([](auto& d) { d.border = {1, 0, 0, 1}; }), HasSubstr("value-range"));
    driver::SamplerDescription compares;
    compares.compare = driver::Compare::less;
    EXPECT_EQ(
        error_of([&] { (void)sample(compares); }),
        "type-mismatch: vulkan: kernel 'texture_sample' takes a sampler that doesn't compare for 'sampler', "
        "and is given one that does");
}

TEST_F(ImagesTest, ShapesThatNoTextureHasAreRefused) {
    const auto refusal = [&](const ImageShape& shape) { return error_of([&] { (void)make(shape); }); };
    const std::string flat = "vulkan: a 2D texture of 7 x 7, ";
    EXPECT_EQ(refusal({two, TextureFormat::rgba8, 7, 7, 1, 4}),
              "value-range: " + flat + "rgba8, 4 mips: it can have 1 to 3 mips");
    EXPECT_EQ(refusal({two, TextureFormat::rgba8_srgb, 7, 7, 1, 1, 1, true}),
              "value-range: " + flat +
                  "rgba8_srgb: kernels can't write to srgb formats; make it read-only, or rgba8");
    EXPECT_THAT(refusal({two, TextureFormat::r8, 0, 7}), HasSubstr("value-range"));
    EXPECT_THAT(refusal({one, TextureFormat::r8, 7, 7}), HasSubstr("shape-mismatch"));
    EXPECT_THAT(refusal({two, TextureFormat::r8, 7, 7, 7}), HasSubstr("its extents are 7 x 7 x 7"));
    EXPECT_THAT(refusal({three, TextureFormat::r8, 7, 7, 7, 1, 2}), HasSubstr("3D textures have no layers"));
    EXPECT_THAT(refusal({cube, TextureFormat::r8, 7, 6, 1, 1, 6}), HasSubstr("are squares"));
    EXPECT_THAT(refusal({cube, TextureFormat::r8, 7, 7, 1, 1, 7}), HasSubstr("has 6 layers"));
    EXPECT_THAT(refusal({two, TextureFormat::r8, 1U << 20, 1}),
                HasSubstr("missing-feature: vulkan: " + device_->info().name +
                          " can't have a 2D texture of 1048576 x 1, r8: at most "));
}

TEST_F(ImagesTest, RegionsAndRangesOutsideAreRefused) {
    const auto image = make(two, TextureFormat::r32f, {7, 5, 1}, 2, 2, true);
    const auto upload = [&](const ImageRegion& region, std::size_t bytes) {
        return error_of([&] { device_->upload_image(image, region, Bytes(bytes)); });
    };
    EXPECT_EQ(upload({0, 0, 1, {1, 0, 0}, {7, 5, 1}}, 140),
              "index-range: vulkan: texels to write: 7 x 5 x 1 at 1 x 0 x 0 in mip 0, layers 0 to 1, of a 2D "
              "texture of 7 x 5, r32f, 2 mips, 2 layers");
    EXPECT_THAT(upload({2, 0, 1, {}, {1, 1, 1}}, 4), HasSubstr("index-range"));
    EXPECT_THAT(upload({0, 2, 1, {}, {1, 1, 1}}, 4), HasSubstr("index-range"));
    EXPECT_THAT(upload({0, 0, 1, {}, {1, 1, 2}}, 8), HasSubstr("index-range"));
    EXPECT_THAT(upload({1, 0, 1, {}, {4, 1, 1}}, 16), HasSubstr("index-range"));
    EXPECT_THAT(upload({0, 0, 1, {}, {7, 5, 1}}, 139),
                HasSubstr("shape-mismatch: vulkan: texels to write: 140 "
                          "bytes, not 139"));
    EXPECT_THAT(error_of([&] { device_->upload_image(nullptr, {}, {}); }), HasSubstr("device-mismatch"));

    const auto kernel = device_->load_kernel(add_kernel());
    const auto source = floats(7, 5, 1);
    const auto bind = [&](const ImagePtr& target, const ImageRange& to) {
        return error_of([&] {
            run(*device_, kernel, {1, 1, 1}, AddBlock{1, 1, 1},
                {driver::ImageBinding{target, to, nullptr},
                 driver::ImageBinding{source, mip_of(0), nullptr}});
        });
    };
    const std::string who = "vulkan: kernel 'texture_add'";
    EXPECT_EQ(bind(nullptr, {}), "missing-argument: " + who + " is given no texture for 'target'");
    EXPECT_THAT(bind(image, {0, 3, 0, 1, two, false}),
                HasSubstr("index-range: " + who + ", 'target': mips 0 to 3, layers 0 to 1, of a 2D texture"));
    EXPECT_THAT(bind(image, {0, 1, 1, 2, two, true}), HasSubstr("index-range"));
    EXPECT_THAT(bind(image, {0, 1, 0, 2, two, false}),
                HasSubstr("shape-mismatch: " + who +
                          ", 'target': 2 layers of a 2D texture of 7 x 5, r32f, 2 mips, "
                          "2 layers are no 2D texture"));
    EXPECT_THAT(bind(image, {0, 1, 0, 1, three, false}), HasSubstr("shape-mismatch"));
    EXPECT_EQ(bind(image, {0, 1, 0, 2, two, true}),
              "type-mismatch: " + who +
                  " takes a 2D texture of floats for 'target', and is given a 2D texture array of r32f");
    EXPECT_THAT(bind(make(two, TextureFormat::r32i, {7, 5, 1}, 1, 1, true), mip_of(0)),
                HasSubstr("type-mismatch"));
    EXPECT_THAT(bind(make(two, TextureFormat::r32f, {7, 5, 1}), mip_of(0)),
                HasSubstr("value-range: " + who +
                          " writes to 'target' and is given a 2D texture of 7 x 5, r32f, "
                          "which was made read-only"));
    const auto other = vulkan::open_vulkan(0);
    const auto elsewhere = other->make_image({two, TextureFormat::r32f, 7, 5, 1, 1, 1, true});
    EXPECT_EQ(bind(elsewhere, mip_of(0)),
              "device-mismatch: " + who.substr(0, 28) + ": texture 'target' is not of this device");
    EXPECT_THAT(error_of([&] { (void)read_mip(*device_, elsewhere); }), HasSubstr("device-mismatch"));
    EXPECT_THAT(error_of([&] {
                    run(*device_, kernel, {1, 1, 1}, AddBlock{},
                        {range(device_->allocate(16)), driver::SamplerBinding{}});
                }),
                HasSubstr("layout-mismatch: " + who +
                          " is given no writable texture for its writable texture "
                          "'target'"));
}

class AdoptedImagesTest : public ::testing::Test {
protected:
    AdoptedImagesTest() {
        vulkan::AdoptedVulkan adopted;
        adopted.instance = application_.instance();
        adopted.physical_device = application_.physical_device();
        adopted.device = application_.device();
        adopted.queue = application_.queue();
        adopted.features = VulkanApplication::features();
        device_ = vulkan::adopt_vulkan(adopted);
    }
    void TearDown() override {
        device_ = nullptr;
        EXPECT_THAT(application_.messages(), IsEmpty());
    }
    /// An image of the application's, in `layout`.
    VkImage make(VkImageLayout layout, std::shared_ptr<void>& owner, std::function<void()> destroyed = {}) {
        const VkImage image = application_.make_image(33, 7, owner, std::move(destroyed));
        const VkCommandBuffer commands = application_.begin();
        application_.change_layout(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
        application_.end(commands);
        application_.submit(commands);
        return image;
    }
    static driver::ForeignImage foreign(VkImage image, VkImageLayout layout, std::shared_ptr<void> owner) {
        return {reinterpret_cast<std::uintptr_t>(image), shape, static_cast<std::uint32_t>(layout), false,
                std::move(owner)};
    }
    Floats values(const ImagePtr& image) { return as<float>(read_mip(*device_, image)); }

    static constexpr ImageShape shape{two, TextureFormat::r32f, 33, 7, 1, 1, 1, true};
    VulkanApplication application_;
    std::shared_ptr<driver::Device> device_;
};

TEST_F(AdoptedImagesTest, AreLeftInTheirLayouts) {
    bool freed = false;
    const auto kernel = device_->load_kernel(add_kernel());
    const auto ours = device_->make_image(shape);
    for (const VkImageLayout layout : {VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL}) {
        std::shared_ptr<void> owner;
        freed = false;
        const VkImage handle = make(layout, owner, [&] { freed = true; });
        auto image = device_->wrap_image(foreign(handle, layout, owner));
        owner = nullptr;
        device_->upload_image(image, whole_mip(shape, 0), bytes_of(Floats(33 * 7, 1)));
        add(*device_, kernel, ours, image, 1);
        add(*device_, kernel, image, ours, 1);
        device_->flush();
        // The application goes on where the last batch has left it.
        std::shared_ptr<void> buffers_owner;
        const VkBuffer buffer = application_.make_buffer(33 * 7 * 4, buffers_owner);
        const VkCommandBuffer commands = application_.begin();
        application_.change_layout(commands, handle, layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {33, 7, 1};
        application_.vk.vkCmdCopyImageToBuffer(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer,
                                               1, &copy);
        application_.change_layout(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, layout);
        application_.end(commands);
        application_.submit(commands);
        const auto memory = device_->wrap({reinterpret_cast<std::uintptr_t>(buffer), 0, 33 * 7 * 4, nullptr});
        Floats found(33 * 7);
        device_->read_back(memory, 0, std::as_writable_bytes(std::span(found)));
        EXPECT_THAT(found, Each(3.F));
        EXPECT_THAT(values(image), Each(3.F));
        // Another wrapper of the same image, in one batch with the first.
        const auto again = device_->wrap_image(foreign(handle, layout, nullptr));
        add(*device_, kernel, ours, again, 1);
        add(*device_, kernel, image, ours, 1);
        add(*device_, kernel, again, image, 1);
        EXPECT_THAT(values(again), Each(6.F));
        EXPECT_THAT(
            error_of([&] {
                (void)device_->wrap_image(foreign(handle, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, nullptr));
            }),
            HasSubstr("shape-mismatch: vulkan: an image is wrapped as a 2D texture of 33 x 7, r32f, and "
                      "already as"));
        EXPECT_FALSE(freed);
        image = nullptr;
        device_->wait();
        application_.wait();
        EXPECT_TRUE(freed);
    }
    std::shared_ptr<void> owner;
    const VkImage handle = application_.make_image(33, 7, owner);
    EXPECT_THAT(
        error_of([&] { (void)device_->wrap_image(foreign(handle, VK_IMAGE_LAYOUT_UNDEFINED, nullptr)); }),
        HasSubstr("value-range: vulkan: a texture to wrap is in no layout that it could be left in"));
    EXPECT_THAT(error_of([&] {
                    (void)device_->wrap_image(foreign(VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL, nullptr));
                }),
                HasSubstr("missing-argument"));
}

TEST_F(AdoptedImagesTest, InCommandBuffersOfTheCallers) {
    const auto kernel = device_->load_kernel(add_kernel());
    constexpr VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    std::shared_ptr<void> owner;
    const VkImage handle = make(layout, owner);
    const auto image = device_->wrap_image(foreign(handle, layout, owner));
    device_->upload_image(image, whole_mip(shape, 0), bytes_of(Floats(33 * 7, 1)));
    const auto fresh = device_->make_image(shape);
    const VkCommandBuffer commands = application_.begin();
    auto recorder = vulkan::record_into(*device_, commands);
    add(*recorder, kernel, fresh, image, 1);
    add(*recorder, kernel, image, fresh, 1);
    const std::uint64_t recorded = vulkan::finish(*device_, std::move(recorder));
    // Back from the layout that it was given in.
    application_.change_layout(commands, handle, layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    application_.change_layout(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout);
    application_.end(commands);
    for (int i = 0; i < 3; ++i) {
        application_.submit(commands);
        application_.wait();
    }
    EXPECT_THAT(values(image), Each(7.F));
    EXPECT_THAT(values(fresh), Each(6.F));
    vulkan::release(*device_, recorded);
}

TEST(ImagesOfAFailingDriver, AreGivenBackAndBegunAnew) {
    FakeVulkan fake;
    vulkan::OpenOptions options;
    options.get_instance_proc_addr = fake.entry_point();
    const auto device = vulkan::open_vulkan(0, options);
    const auto kernel = device->load_kernel(add_kernel());
    const ImageShape shape{two, TextureFormat::rgba32f, 512, 512, 1, 1, 1, true};  // 4 MiB
    fake.memory_limit = fake.live_bytes + (24ULL << 20);
    std::vector<ImagePtr> images;
    const std::string full = error_of([&] {
        for (int i = 0; i < 7; ++i) images.push_back(device->make_image(shape));
    });
    EXPECT_THAT(full,
                HasSubstr("out-of-memory: vulkan: out of memory on " + device->info().name + ": 41943"));
    EXPECT_GE(images.size(), 4U);
    images.clear();
    (void)device->allocate(20ULL << 20);  // the images' blocks are given back
    fake.memory_limit = ~0ULL;

    const auto image = device->make_image({two, TextureFormat::r32f, 7, 7, 1, 1, 1, true});
    const auto other = device->make_image({two, TextureFormat::r32f, 7, 7, 1, 1, 1, true});
    device->upload_image(other, whole_mip(other->shape, 0), bytes_of(Floats(49, 1)));
    add(*device, kernel, image, other, 1);
    fake.queue_submit = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THAT(error_of([&] { device->flush(); }), HasSubstr("4 commands were not run"));
    fake.queue_submit = VK_SUCCESS;
    device->upload_image(other, whole_mip(other->shape, 0), bytes_of(Floats(49, 2)));
    auto recorder = device->make_recorder();
    add(*recorder, kernel, image, other, 1);
    device->submit(std::move(recorder));
    EXPECT_THAT(as<float>(read_mip(*device, image)), Each(3.F));
    EXPECT_THAT(vulkan::validation_messages(*device), IsEmpty());
}

}  // namespace
}  // namespace kf::test
