// What kernels of kf_textures.slang read and write on a GPU, against the host's arithmetic. Skipped without
// one.
#include <kf/half.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/texture_handle.h"
#include "testing.h"

namespace kf::test {
namespace {

using driver::ImageBinding;
using driver::ImageDimension;
using driver::ImageRange;
using driver::ImageShape;
using manifest::ResourceKind;

using Float4 = std::array<float, 4>;
using Int4 = std::array<std::int32_t, 4>;
using Uint4 = std::array<std::uint32_t, 4>;

struct Box {
    std::array<std::int32_t, 4> first{};  ///< x, y, z or layer, mip
    std::array<std::uint32_t, 4> extent{1, 1, 1, 0};

    [[nodiscard]] std::size_t size() const { return std::size_t{extent[0]} * extent[1] * extent[2]; }
};

/// Of kernels that take one texture, memory, and a box.
struct BoxBlock {
    std::array<std::byte, 32> handle{};
    std::uint64_t memory = 0;
    std::uint64_t pad = 0;
    Box box;
};

struct Place {
    Float4 at{};
    float lod = 0;
    std::uint32_t sampler = 0;
    std::array<std::int32_t, 2> offset{};
};

std::uint32_t halved(std::uint32_t extent, std::uint32_t mip) { return std::max(extent >> mip, 1U); }

/// A component of a float format, by what its bits mean.
float decoded(TextureFormat format, const std::byte* at) {
    const TextureFormatInfo& info = info_of(format);
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof value);
        return value;
    };
    switch (info.scalar) {
        case ScalarType::uint8: return static_cast<float>(as(std::uint8_t{})) / 255.0F;
        case ScalarType::uint16: return static_cast<float>(as(std::uint16_t{})) / 65535.0F;
        case ScalarType::int8: return std::max(static_cast<float>(as(std::int8_t{})) / 127.0F, -1.0F);
        case ScalarType::int16: return std::max(static_cast<float>(as(std::int16_t{})) / 32767.0F, -1.0F);
        case ScalarType::float16: return half::from_bits(as(std::uint16_t{}));
        default: return as(0.0F);
    }
}

float linear_of_srgb(float c) { return c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F); }

/// The texel that begins there.
Float4 texel_of(TextureFormat format, const std::byte* at) {
    const TextureFormatInfo& info = info_of(format);
    Float4 texel{0, 0, 0, 1};
    for (std::size_t c = 0; c < info.components; ++c) {
        texel.at(c) = decoded(format, at + c * size_of(info.scalar));
        if (info.texel == TexelClass::srgb && c < 3) texel.at(c) = linear_of_srgb(texel.at(c));
    }
    return texel;
}

template <class T>
void put(std::byte*& at, T value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
}

/// What a store of the element leaves.
std::vector<std::byte> encoded(TextureFormat format, const Float4& element) {
    const TextureFormatInfo& info = info_of(format);
    std::vector<std::byte> bytes(info.size());
    std::byte* at = bytes.data();
    const auto unorm = [](float v, float most) {
        return std::nearbyint(std::isnan(v) ? 0 : std::clamp(v, 0.0F, 1.0F) * most);
    };
    const auto snorm = [](float v, float most) {
        return std::nearbyint(std::isnan(v) ? 0 : std::clamp(v, -1.0F, 1.0F) * most);
    };
    for (std::size_t c = 0; c < info.components; ++c) {
        const float v = element.at(c);
        switch (info.scalar) {
            case ScalarType::uint8: put(at, static_cast<std::uint8_t>(unorm(v, 255))); break;
            case ScalarType::uint16: put(at, static_cast<std::uint16_t>(unorm(v, 65535))); break;
            case ScalarType::int8: put(at, static_cast<std::int8_t>(snorm(v, 127))); break;
            case ScalarType::int16: put(at, static_cast<std::int16_t>(snorm(v, 32767))); break;
            case ScalarType::float16: put(at, half(v).bits()); break;
            default: put(at, v);
        }
    }
    return bytes;
}

bool is_written(const TextureFormatInfo& info) { return info.is_float() && info.texel != TexelClass::srgb; }

struct Slot {
    ResourceKind kind = ResourceKind::texture;
    std::int64_t samplers = 1;
    ImageDimension dimension = ImageDimension::two;
    bool is_array = false;
};

class TextureKernels : public ::testing::Test {
protected:
    void SetUp() override {
        std::string why_not;
        if (cuda::enumerate_cuda(&why_not).empty()) GTEST_SKIP() << "needs a GPU: " << why_not;
        device_ = cuda::open_cuda(0);
    }

    /// kernels/NAME.ptx with these resources in its block, from its beginning.
    std::shared_ptr<driver::Kernel> load(const std::string& name, std::array<std::uint32_t, 3> group,
                                         std::int64_t block, const std::vector<Slot>& slots) {
        manifest::Kernel kernel = with_ptx(bare_kernel(name, group, block));
        std::int64_t place = 0;
        for (const Slot& given : slots) {
            manifest::ResourceSlot slot;
            slot.name = "r" + std::to_string(kernel.resources.size());
            slot.kind = given.kind;
            slot.writes = given.kind == ResourceKind::writable_texture;
            slot.samplers = given.samplers;
            slot.dimension = static_cast<manifest::kinds::TextureDimension>(given.dimension);
            slot.is_array = given.is_array;
            kernel.layouts["cuda"].resource_places.push_back(place);
            place += manifest::handle_bytes(slot);
            kernel.resources.push_back(std::move(slot));
        }
        return device_->load_kernel(kernel);
    }

    std::shared_ptr<driver::Image> make(const ImageShape& shape) {
        const auto image = device_->make_image(shape);
        return image;
    }

    /// Uploads random bytes, with every pattern of a float's exponent but infinities and NaNs.
    std::vector<std::byte> fill(const std::shared_ptr<driver::Image>& image, std::uint32_t mip) {
        const ImageShape& shape = image->shape;
        const TextureFormatInfo& info = info_of(shape.format);
        const driver::ImageRegion region{mip, 0, shape.layers, {}, extent(shape, mip)};
        const std::size_t texels =
            std::size_t{region.extent[0]} * region.extent[1] * region.extent[2] * region.layers;
        std::vector<std::byte> bytes(texels * info.size());
        std::uint32_t state = 12345 + mip;
        const auto next = [&state] { return state = state * 1664525 + 1013904223; };
        std::byte* at = bytes.data();
        for (std::size_t i = 0; i < texels * info.components; ++i) {
            const auto fraction = static_cast<float>(next() >> 8) / 16777216.0F * 4 - 2;
            switch (info.scalar) {
                case ScalarType::float16: put(at, half(fraction).bits()); break;
                case ScalarType::float32: put(at, fraction); break;
                default: {
                    const std::uint32_t word = next() >> 3;
                    std::memcpy(at, &word, size_of(info.scalar));
                    at += size_of(info.scalar);
                }
            }
        }
        device_->upload_image(image, region, bytes);
        return bytes;
    }

    static std::array<std::uint32_t, 3> extent(const ImageShape& shape, std::uint32_t mip) {
        return {halved(shape.width, mip), halved(shape.height, mip), halved(shape.depth, mip)};
    }

    std::vector<std::byte> texels(const std::shared_ptr<driver::Image>& image, std::uint32_t mip) {
        const driver::ImageRegion region{mip, 0, image->shape.layers, {}, extent(image->shape, mip)};
        std::vector<std::byte> bytes(std::size_t{region.extent[0]} * region.extent[1] * region.extent[2] *
                                     region.layers * info_of(image->shape.format).size());
        device_->read_back_image(image, region, bytes);
        return bytes;
    }

    template <class T>
    std::shared_ptr<driver::Allocation> upload(const std::vector<T>& values) {
        auto memory = device_->allocate(values.size() * sizeof(T));
        device_->upload(memory, 0, std::as_bytes(std::span(values)));
        return memory;
    }
    template <class T>
    std::vector<T> read(const std::shared_ptr<driver::Allocation>& memory) {
        std::vector<T> values(memory->size / sizeof(T));
        device_->read_back(memory, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }

    void run(const std::shared_ptr<driver::Kernel>& kernel, const ImageBinding& texture,
             const std::shared_ptr<driver::Allocation>& memory, const Box& box) {
        BoxBlock block;
        block.memory = memory->address;
        block.box = box;
        const std::array resources{driver::Resource(texture)};
        const std::array uses{driver::Use{memory, true}};
        device_->dispatch({kernel.get(),
                           {(box.extent[0] + 7) / 8, (box.extent[1] + 7) / 8, box.extent[2]},
                           std::as_bytes(std::span(&block, 1)),
                           uses,
                           resources});
    }

    /// Loads the box of the texture by the kernel.
    template <class T>
    std::vector<T> loaded(const std::string& kernel, const ImageBinding& texture, const Box& box,
                          ResourceKind kind = ResourceKind::texture) {
        const auto memory = upload(std::vector<T>(box.size(), T{77, 77, 77, 77}));
        const Slot slot{kind, 1, texture.range.dimension, texture.range.is_array};
        run(load(kernel, {8, 8, 1}, sizeof(BoxBlock), {slot}), texture, memory, box);
        return read<T>(memory);
    }

    std::shared_ptr<driver::Device> device_;
};

/// A box that reaches over all edges.
Box around(std::uint32_t width, std::uint32_t height, std::uint32_t mip) {
    return {{-2, -1, 0, static_cast<std::int32_t>(mip)}, {width + 4, height + 3, 1, 0}};
}

void expect_near(const Float4& found, const Float4& expected, float tolerance, const std::string& where) {
    for (std::size_t c = 0; c < 4; ++c) {
        ASSERT_NEAR(found.at(c), expected.at(c), tolerance * std::max(1.0F, std::abs(expected.at(c))))
            << where << ", component " << c;
    }
}

std::string at_text(TextureFormat format, std::int64_t x, std::int64_t y, std::int64_t z = 0) {
    return std::string(info_of(format).name) + " at " + std::to_string(x) + ", " + std::to_string(y) + ", " +
           std::to_string(z);
}

TEST_F(TextureKernels, LoadsAreTexelsAndZerosOutside) {
    for (std::size_t i = 0; i < texture_formats.size(); ++i) {
        const auto format = static_cast<TextureFormat>(i);
        const TextureFormatInfo& info = info_of(format);
        if (!info.is_float()) continue;
        const auto image = make({ImageDimension::two, format, 33, 7, 1, 3, 1, false});
        for (std::uint32_t mip = 0; mip < 3; ++mip) {
            const std::vector<std::byte> bytes = fill(image, mip);
            const std::uint32_t width = halved(33, mip);
            const std::uint32_t height = halved(7, mip);
            const Box box = around(width, height, mip);
            const auto found = loaded<Float4>(
                "texture_load_2d", {image, {0, 3, 0, 1, ImageDimension::two, false}, nullptr}, box);
            for (std::uint32_t y = 0; y < box.extent[1]; ++y) {
                for (std::uint32_t x = 0; x < box.extent[0]; ++x) {
                    const std::int64_t u = std::int64_t{x} - 2;
                    const std::int64_t v = std::int64_t{y} - 1;
                    const bool inside = u >= 0 && u < width && v >= 0 && v < height;
                    const Float4 expected =
                        inside ? texel_of(format, bytes.data() + (static_cast<std::size_t>(v) * width +
                                                                  static_cast<std::size_t>(u)) *
                                                                     info.size())
                               : Float4{};
                    // Hardware decodes sRGB to a step of 8 bits or so.
                    const float tolerance = info.texel == TexelClass::srgb ? 5e-3F : 1e-6F;
                    expect_near(found[y * box.extent[0] + x], expected, tolerance,
                                at_text(format, u, v, mip));
                    if (HasFatalFailure()) return;
                }
            }
        }
        // No such mip.
        const auto none =
            loaded<Float4>("texture_load_2d", {image, {0, 3, 0, 1, ImageDimension::two, false}, nullptr},
                           {{0, 0, 0, 3}, {1, 1, 1, 0}});
        EXPECT_EQ(none[0], Float4{});
    }
}

TEST_F(TextureKernels, ViewsAreOfMipsAndLayers) {
    const auto image = make({ImageDimension::two, TextureFormat::rgba8, 32, 16, 1, 4, 5, false});
    std::vector<std::vector<std::byte>> bytes;
    for (std::uint32_t mip = 0; mip < 4; ++mip) bytes.push_back(fill(image, mip));
    const auto expected = [&](std::uint32_t mip, std::uint32_t layer, std::uint32_t x, std::uint32_t y) {
        const std::size_t width = halved(32, mip);
        const std::size_t height = halved(16, mip);
        return texel_of(TextureFormat::rgba8, bytes[mip].data() + 4 * ((layer * height + y) * width + x));
    };
    // One layer of it as a texture without layers, its first mip being another one's.
    for (const auto& [first, count] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 3}, {2, 1}, {0, 2}}) {
        for (std::uint32_t mip = 0; mip < count; ++mip) {
            const std::uint32_t width = halved(32, first + mip);
            const std::uint32_t height = halved(16, first + mip);
            const Box box{{0, 0, 0, static_cast<std::int32_t>(mip)}, {width + 1, height, 1, 0}};
            const auto found = loaded<Float4>(
                "texture_load_2d", {image, {first, count, 3, 1, ImageDimension::two, false}, nullptr}, box);
            for (std::uint32_t y = 0; y < height; ++y) {
                for (std::uint32_t x = 0; x < width; ++x) {
                    expect_near(found[y * (width + 1) + x], expected(first + mip, 3, x, y), 1e-6F,
                                "mip " + std::to_string(first) + " + " + std::to_string(mip) + ", " +
                                    at_text(TextureFormat::rgba8, x, y));
                    if (HasFatalFailure()) return;
                }
                EXPECT_EQ(found[y * (width + 1) + width], Float4{});
            }
        }
    }
}

TEST_F(TextureKernels, IntegersOfLayersAndOfDepth) {
    const auto layered = make({ImageDimension::two, TextureFormat::rg16i, 9, 5, 1, 1, 4, false});
    const std::vector<std::byte> shorts = fill(layered, 0);
    const Box box{{-1, -1, -1, 0}, {11, 7, 5, 0}};
    const auto found = loaded<Int4>("texture_load_2d_array",
                                    {layered, {0, 1, 1, 3, ImageDimension::two, true}, nullptr}, box);
    for (std::int32_t z = -1; z < 4; ++z) {
        for (std::int32_t y = -1; y < 6; ++y) {
            for (std::int32_t x = -1; x < 10; ++x) {
                Int4 expected{};
                if (x >= 0 && x < 9 && y >= 0 && y < 5 && z >= 0 && z < 3) {
                    std::array<std::int16_t, 2> texel{};
                    std::memcpy(texel.data(), shorts.data() + 4 * (((z + 1) * 5 + y) * 9 + x), 4);
                    expected = {texel[0], texel[1], 0, 1};
                }
                ASSERT_EQ(found[static_cast<std::size_t>(((z + 1) * 7 + y + 1) * 11 + x + 1)], expected)
                    << x << ", " << y << ", " << z;
            }
        }
    }
    const auto deep = make({ImageDimension::three, TextureFormat::rgba8ui, 5, 4, 3, 2, 1, false});
    (void)fill(deep, 0);
    const std::vector<std::byte> small = fill(deep, 1);
    const auto slices =
        loaded<Uint4>("texture_load_3d", {deep, {0, 2, 0, 1, ImageDimension::three, false}, nullptr},
                      {{0, 0, 0, 1}, {3, 2, 2, 0}});
    for (std::uint32_t y = 0; y < 2; ++y) {
        for (std::uint32_t x = 0; x < 3; ++x) {
            Uint4 expected{};
            for (std::size_t c = 0; c < 4 && x < 2; ++c)
                expected.at(c) = static_cast<std::uint32_t>(small[4 * (y * 2 + x) + c]);
            ASSERT_EQ(slices[y * 3 + x], expected) << x << ", " << y;
            ASSERT_EQ(slices[6 + y * 3 + x], Uint4{}) << "a mip of one slice";
        }
    }
}

TEST_F(TextureKernels, FacesOfCubesAreLoadedAsLayers) {
    for (const std::uint32_t layers : {6U, 18U}) {
        const auto cube = make({ImageDimension::cube, TextureFormat::rg8i, 33, 33, 1, 2, layers, false});
        for (std::uint32_t mip = 0; mip < 2; ++mip) {
            const std::vector<std::byte> bytes = fill(cube, mip);
            const std::int32_t size = mip == 0 ? 33 : 16;
            const std::uint32_t first = layers / 3;
            const Box box{{-1, 0, 0, static_cast<std::int32_t>(mip)},
                          {static_cast<std::uint32_t>(size) + 2, static_cast<std::uint32_t>(size), 4, 0}};
            const auto found = loaded<Int4>(
                "texture_load_2d_array", {cube, {0, 2, first, 4, ImageDimension::two, true}, nullptr}, box);
            std::size_t i = 0;
            for (std::int32_t z = 0; z < 4; ++z) {
                for (std::int32_t y = 0; y < size; ++y) {
                    for (std::int32_t x = -1; x <= size; ++x) {
                        Int4 expected{};
                        if (x >= 0 && x < size) {
                            const std::byte* at =
                                bytes.data() +
                                2 * (((z + static_cast<std::int32_t>(first)) * size + y) * size + x);
                            expected = {static_cast<std::int8_t>(at[0]), static_cast<std::int8_t>(at[1]), 0,
                                        1};
                        }
                        ASSERT_EQ(found[i++], expected)
                            << layers << " layers, mip " << mip << ": " << x << ", " << y << ", " << z;
                    }
                }
            }
        }
    }
}

TEST_F(TextureKernels, LinesAndTheirLayers) {
    for (const std::uint32_t layers : {1U, 3U}) {
        const auto image = make({ImageDimension::one, TextureFormat::r32f, 257, 1, 1, 1, layers, true});
        const std::vector<std::byte> bytes = fill(image, 0);
        const ImageRange range{0, 1, 0, layers, ImageDimension::one, true};
        const Box box{{-3, 0, 0, 0}, {263, 1, layers, 0}};
        const auto found = loaded<Float4>("texture_load_1d_array", {image, range, nullptr}, box);
        for (std::uint32_t z = 0; z < layers; ++z) {
            for (std::int32_t x = -3; x < 260; ++x) {
                Float4 expected{};
                if (x >= 0 && x < 257)
                    expected = texel_of(TextureFormat::r32f,
                                        bytes.data() + 4 * (z * 257 + static_cast<std::uint32_t>(x)));
                expect_near(found[z * 263 + static_cast<std::size_t>(x + 3)], expected, 0,
                            at_text(TextureFormat::r32f, x, 0, z));
                if (HasFatalFailure()) return;
            }
        }
        const std::vector<Float4> values(box.size(), Float4{2.5F, 9, 9, 9});
        run(load("texture_store_1d_array", {8, 8, 1}, sizeof(BoxBlock),
                 {{ResourceKind::writable_texture, 1, ImageDimension::one, true}}),
            {image, range, nullptr}, upload(values), box);
        for (std::size_t i = 0; i < 257 * layers; ++i)
            ASSERT_EQ(decoded(TextureFormat::r32f, texels(image, 0).data() + 4 * i), 2.5F) << i;
    }
}

/// Numbers on both sides of every rounding, and what is none.
std::vector<Float4> stored_values(std::size_t count) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> special{
        0,          -0.0F,      1,         -1,        0.5F,
        2,          -2,         1e-9F,     65504,     65520,
        -65520,     6e-8F,      infinity,  -infinity, std::numeric_limits<float>::quiet_NaN(),
        0.5F / 255, 1.5F / 255, 2.5F / 127};
    std::vector<Float4> values(count);
    std::uint32_t state = 99;
    std::size_t next = 0;
    for (Float4& value : values) {
        for (float& component : value) {
            state = state * 1664525 + 1013904223;
            component = next < special.size() ? special[next++]
                                              : static_cast<float>(state >> 8) / 16777216.0F * 2.4F - 1.2F;
        }
    }
    return values;
}

TEST_F(TextureKernels, StoresAreRoundedAndOutsideDropped) {
    const auto store =
        load("texture_store_2d", {8, 8, 1}, sizeof(BoxBlock), {{ResourceKind::writable_texture, 1}});
    for (std::size_t i = 0; i < texture_formats.size(); ++i) {
        const auto format = static_cast<TextureFormat>(i);
        const TextureFormatInfo& info = info_of(format);
        if (!is_written(info)) continue;
        for (const std::uint32_t layers : {1U, 3U}) {
            const auto image = make({ImageDimension::two, format, 33, 7, 1, 2, layers, true});
            const std::vector<std::byte> other = fill(image, 0);
            std::vector<std::byte> expected = fill(image, 1);
            const std::uint32_t layer = layers - 1;
            const Box box = around(16, 3, 0);
            const std::vector<Float4> values = stored_values(box.size());
            const auto memory = upload(values);
            run(store, {image, {1, 1, layer, 1, ImageDimension::two, false}, nullptr}, memory, box);
            for (std::uint32_t y = 0; y < 3; ++y) {
                for (std::uint32_t x = 0; x < 16; ++x) {
                    const std::vector<std::byte> texel = encoded(format, values[(y + 1) * 20 + x + 2]);
                    std::ranges::copy(
                        texel, expected.begin() +
                                   static_cast<std::ptrdiff_t>(((layer * 3 + y) * 16 + x) * info.size()));
                }
            }
            const std::vector<std::byte> found = texels(image, 1);
            for (std::size_t at = 0; at < expected.size(); ++at) {
                if (info.texel == TexelClass::floating &&
                    std::isnan(
                        decoded(format, expected.data() + at / size_of(info.scalar) * size_of(info.scalar))))
                    continue;
                ASSERT_EQ(found[at], expected[at]) << info.name << ", " << layers << " layers, byte " << at;
            }
            EXPECT_EQ(texels(image, 0), other) << "another mip";
            // And read by the same handle.
            const auto back = loaded<Float4>("texture_read_2d",
                                             {image, {1, 1, layer, 1, ImageDimension::two, false}, nullptr},
                                             box, ResourceKind::writable_texture);
            for (std::uint32_t y = 0; y < box.extent[1]; ++y) {
                for (std::uint32_t x = 0; x < box.extent[0]; ++x) {
                    const bool inside = x >= 2 && x < 18 && y >= 1 && y < 4;
                    const Float4 texel =
                        inside ? texel_of(format,
                                          found.data() + ((layer * 3 + y - 1) * 16 + x - 2) * info.size())
                               : Float4{};
                    for (std::size_t c = 0; c < 4; ++c) {
                        const float b = back[y * box.extent[0] + x].at(c);
                        ASSERT_TRUE(b == texel.at(c) || (std::isnan(b) && std::isnan(texel.at(c))))
                            << at_text(format, x, y) << ": " << b << " for " << texel.at(c);
                    }
                }
            }
        }
    }
}

TEST_F(TextureKernels, IntegersAreStoredClamped) {
    const auto store = load("texture_store_2d_array", {8, 8, 1}, sizeof(BoxBlock),
                            {{ResourceKind::writable_texture, 1, ImageDimension::two, true}});
    for (const auto& [format, low, high] : std::vector<std::tuple<TextureFormat, std::int32_t, std::int32_t>>{
             {TextureFormat::rgba8i, -128, 127},
             {TextureFormat::rg16i, -32768, 32767},
             {TextureFormat::r32i, std::numeric_limits<std::int32_t>::min(),
              std::numeric_limits<std::int32_t>::max()}}) {
        // Faces of a cube, too, are written as layers.
        for (const ImageDimension dimension : {ImageDimension::two, ImageDimension::cube}) {
            const auto image = make({dimension, format, 5, 5, 1, 1, 6, true});
            (void)fill(image, 0);
            const Box box{{0, 0, 0, 0}, {6, 6, 7, 0}};
            std::vector<Int4> values(box.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto n = static_cast<std::int32_t>(i);
                values[i] = {n * 977 - 100000, -n, n, n * 71};
            }
            run(store, {image, {0, 1, 0, 6, ImageDimension::two, true}, nullptr}, upload(values), box);
            const std::vector<std::byte> found = texels(image, 0);
            const TextureFormatInfo& info = info_of(format);
            for (std::size_t i = 0; i < 6 * 25; ++i) {
                const std::size_t from = (i / 25 * 6 + i % 25 / 5) * 6 + i % 5;
                for (std::size_t c = 0; c < info.components; ++c) {
                    std::int32_t component = 0;
                    const std::byte* at = found.data() + i * info.size() + c * size_of(info.scalar);
                    std::memcpy(&component, at, size_of(info.scalar));
                    if (info.scalar == ScalarType::int8) component = static_cast<std::int8_t>(component);
                    if (info.scalar == ScalarType::int16) component = static_cast<std::int16_t>(component);
                    ASSERT_EQ(component, std::clamp(values[from].at(c), low, high)) << info.name << ", " << i;
                }
            }
        }
    }
    const auto deep = make({ImageDimension::three, TextureFormat::rg8ui, 5, 4, 3, 1, 1, true});
    (void)fill(deep, 0);
    const Box box{{-1, 0, 0, 0}, {7, 5, 4, 0}};
    std::vector<Uint4> values(box.size());
    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = {i, 3 * i, 0, 0};
    run(load("texture_store_3d", {8, 8, 1}, sizeof(BoxBlock),
             {{ResourceKind::writable_texture, 1, ImageDimension::three}}),
        {deep, {0, 1, 0, 1, ImageDimension::three, false}, nullptr}, upload(values), box);
    const std::vector<std::byte> found = texels(deep, 0);
    for (std::uint32_t i = 0; i < 60; ++i) {
        const std::uint32_t from = (i / 20 * 5 + i % 20 / 5) * 7 + i % 5 + 1;
        ASSERT_EQ(static_cast<std::uint32_t>(found[2 * i]), std::min(from, 255U)) << i;
        ASSERT_EQ(static_cast<std::uint32_t>(found[2 * i + 1]), std::min(3 * from, 255U)) << i;
    }
}

// ---- Samples ----

struct SampleBlock {
    std::array<std::byte, 56> handles{};
    std::uint64_t places = 0;
    std::uint64_t out = 0;
    std::uint32_t count = 0;
    std::uint32_t pad = 0;
};

/// The linear sample of a one-component texture with these texels, clamped; hardware has 8 bits of fractions.
float bilinear(const std::vector<float>& texels, int width, int height, float u, float v) {
    const float x = u * static_cast<float>(width) - 0.5F;
    const float y = v * static_cast<float>(height) - 0.5F;
    const int i = static_cast<int>(std::floor(x));
    const int j = static_cast<int>(std::floor(y));
    const float a = x - static_cast<float>(i);
    const float b = y - static_cast<float>(j);
    const auto at = [&](int column, int row) {
        return texels[static_cast<std::size_t>(std::clamp(row, 0, height - 1) * width +
                                               std::clamp(column, 0, width - 1))];
    };
    return (at(i, j) * (1 - a) + at(i + 1, j) * a) * (1 - b) +
           (at(i, j + 1) * (1 - a) + at(i + 1, j + 1) * a) * b;
}

TEST_F(TextureKernels, SamplersOfACallAreEachItsOwn) {
    const auto image = make({ImageDimension::two, TextureFormat::r32f, 16, 8, 1, 3, 1, false});
    std::vector<std::vector<float>> mips;
    for (std::uint32_t mip = 0; mip < 3; ++mip) {
        const std::vector<std::byte> bytes = fill(image, mip);
        mips.emplace_back(bytes.size() / 4);
        std::memcpy(mips.back().data(), bytes.data(), bytes.size());
    }
    driver::SamplerDescription nearest;
    nearest.minify = nearest.magnify = nearest.mip = driver::Filter::nearest;
    nearest.address = {driver::Address::repeat, driver::Address::border, driver::Address::clamp};
    nearest.border = {0, 0, 0, 1};
    const driver::SamplerDescription linear;
    std::vector<Place> places;
    std::vector<float> expected;
    for (int i = 0; i < 200; ++i) {
        Place place;
        const float u = static_cast<float>(i * 37 % 101) / 101 * 1.5F - 0.25F;
        const float v = static_cast<float>(i * 53 % 97) / 97 * 1.5F - 0.25F;
        const int mip = i % 3;
        place.at = {u, v, 0, 0};
        place.lod = static_cast<float>(mip);
        place.sampler = static_cast<std::uint32_t>(i) % 2;
        if (i % 5 == 0) place.offset = {i % 7 - 3, 2 - i % 4};
        const int width = 16 >> mip;
        const int height = 8 >> mip;
        const auto& texels = mips[static_cast<std::size_t>(mip)];
        if (place.sampler == 0) {
            const int x = static_cast<int>(std::floor(u * static_cast<float>(width))) + place.offset[0];
            const int y = static_cast<int>(std::floor(v * static_cast<float>(height))) + place.offset[1];
            const int column = ((x % width) + width) % width;
            expected.push_back(y < 0 || y >= height ? 0
                                                    : texels[static_cast<std::size_t>(y * width + column)]);
        } else {
            expected.push_back(bilinear(
                texels, width, height, u + static_cast<float>(place.offset[0]) / static_cast<float>(width),
                v + static_cast<float>(place.offset[1]) / static_cast<float>(height)));
        }
        places.push_back(place);
    }
    const auto in = upload(places);
    const auto out = upload(std::vector<Float4>(2 * places.size()));
    const auto kernel =
        load("texture_sample_2d", {64, 1, 1}, sizeof(SampleBlock),
             {{ResourceKind::texture, 2}, {ResourceKind::sampler, 1}, {ResourceKind::sampler, 1}});
    SampleBlock block;
    block.places = in->address;
    block.out = out->address;
    block.count = static_cast<std::uint32_t>(places.size());
    const std::array resources{
        driver::Resource(ImageBinding{image, {0, 3, 0, 1, ImageDimension::two, false}, nullptr}),
        driver::Resource(driver::SamplerBinding{device_->make_sampler(nearest)}),
        driver::Resource(driver::SamplerBinding{device_->make_sampler(linear)})};
    const std::array uses{driver::Use{in, false}, driver::Use{out, true}};
    device_->dispatch({kernel.get(), {4, 1, 1}, std::as_bytes(std::span(&block, 1)), uses, resources});
    const auto found = read<Float4>(out);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const float tolerance = places[i].sampler == 0 ? 0.0F : 0.02F;
        const bool in_border = places[i].sampler == 0 && expected[i] == 0;
        for (std::size_t way = 0; way < 2; ++way) {
            const Float4& texel = found[2 * i + way];
            ASSERT_NEAR(texel[0], expected[i], tolerance)
                << i << " by " << (way == 0 ? "level" : "gradients") << ", at " << places[i].at[0] << ", "
                << places[i].at[1] << ", lod " << places[i].lod;
            ASSERT_EQ(texel[1], 0) << i;
            ASSERT_EQ(texel[2], 0) << i;
            ASSERT_EQ(texel[3], 1) << i << (in_border ? " of the border" : "");
        }
    }
}

struct CubeBlock {
    std::array<std::byte, 64> handles{};
    std::uint64_t places = 0;
    std::uint64_t out = 0;
    std::uint32_t count = 0;
    std::uint32_t pad = 0;
};

TEST_F(TextureKernels, CubesAndArraysOfThem) {
    const auto cube = make({ImageDimension::cube, TextureFormat::r32f, 4, 4, 1, 1, 6, false});
    const auto cubes = make({ImageDimension::cube, TextureFormat::r32f, 4, 4, 1, 1, 18, false});
    std::vector<float> faces(18 * 16);
    for (std::size_t i = 0; i < faces.size(); ++i) faces[i] = static_cast<float>(i / 16);
    const auto bytes = std::as_bytes(std::span(faces));
    device_->upload_image(cube, {0, 0, 6, {}, {4, 4, 1}}, bytes.first(6 * 16 * 4));
    device_->upload_image(cubes, {0, 0, 18, {}, {4, 4, 1}}, bytes);
    std::vector<Place> places;
    for (std::size_t face = 0; face < 6; ++face) {
        Place place;
        place.at.at(face / 2) = face % 2 == 0 ? 1.0F : -1.0F;
        place.at[3] = face % 2 == 0 ? 1.0F : -3.0F;  // the second of two cubes; the first
        places.push_back(place);
    }
    const auto in = upload(places);
    const auto out = upload(std::vector<Float4>(2 * places.size()));
    const auto kernel = load("texture_sample_cube", {64, 1, 1}, sizeof(CubeBlock),
                             {{ResourceKind::combined_texture, 1, ImageDimension::cube},
                              {ResourceKind::combined_texture, 1, ImageDimension::cube, true}});
    CubeBlock block;
    block.places = in->address;
    block.out = out->address;
    block.count = static_cast<std::uint32_t>(places.size());
    const auto sampler = device_->make_sampler({});
    const std::array resources{
        driver::Resource(ImageBinding{cube, {0, 1, 0, 6, ImageDimension::cube, false}, sampler}),
        driver::Resource(ImageBinding{cubes, {0, 1, 6, 12, ImageDimension::cube, true}, sampler})};
    const std::array uses{driver::Use{in, false}, driver::Use{out, true}};
    device_->dispatch({kernel.get(), {1, 1, 1}, std::as_bytes(std::span(&block, 1)), uses, resources});
    const auto found = read<Float4>(out);
    for (std::size_t face = 0; face < 6; ++face) {
        EXPECT_NEAR(found[2 * face][0], static_cast<float>(face), 1e-5F);
        EXPECT_NEAR(found[2 * face + 1][0], static_cast<float>(face + (face % 2 == 0 ? 12 : 6)), 1e-5F);
    }
}

struct GatherBlock {
    std::array<std::byte, 32> handle{};
    std::uint64_t places = 0;
    std::uint64_t out = 0;
    std::uint32_t count = 0;
    std::uint32_t pad = 0;
};

TEST_F(TextureKernels, GathersOfFourTexels) {
    for (const TextureFormat format : {TextureFormat::rgba32f, TextureFormat::rg32f}) {
        const std::size_t components = info_of(format).components;
        const auto image = make({ImageDimension::two, format, 8, 8, 1, 1, 1, false});
        std::vector<float> values(64 * components);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        device_->upload_image(image, {0, 0, 1, {}, {8, 8, 1}}, std::as_bytes(std::span(values)));
        Place place;
        place.at = {3.0F / 8, 5.0F / 8, 0, 0};  // between texels 2 and 3, 4 and 5
        place.offset = {1, -2};
        const auto in = upload(std::vector<Place>{place});
        const auto out = upload(std::vector<Float4>(2));
        const auto kernel =
            load("texture_gather", {64, 1, 1}, sizeof(GatherBlock), {{ResourceKind::combined_texture, 1}});
        GatherBlock block;
        block.places = in->address;
        block.out = out->address;
        block.count = 1;
        const std::array resources{driver::Resource(
            ImageBinding{image, {0, 1, 0, 1, ImageDimension::two, false}, device_->make_sampler({})})};
        const std::array uses{driver::Use{in, false}, driver::Use{out, true}};
        device_->dispatch({kernel.get(), {1, 1, 1}, std::as_bytes(std::span(&block, 1)), uses, resources});
        const auto found = read<Float4>(out);
        const auto at = [&](std::size_t x, std::size_t y, std::size_t c) {
            return c < components ? values[(y * 8 + x) * components + c] : c == 3 ? 1.0F : 0.0F;
        };
        // From the lower left one on, against the clock's direction.
        EXPECT_EQ(found[0], (Float4{at(2, 5, 0), at(3, 5, 0), at(3, 4, 0), at(2, 4, 0)}));
        EXPECT_EQ(found[1], (Float4{at(3, 3, 3), at(4, 3, 3), at(4, 2, 3), at(3, 2, 3)}));
    }
}

// ---- Mips ----

/// The linear sample of the mip before at each texel's middle, of one layer's components, linear ones.
std::vector<float> reduced(const std::vector<float>& from, const std::array<std::uint32_t, 3>& before,
                           const std::array<std::uint32_t, 3>& now, std::size_t components) {
    std::vector<float> to;
    const auto beside = [](std::uint32_t at, std::uint32_t count, std::uint32_t of) {
        const double place = (at + 0.5) * (static_cast<double>(of) / count) - 0.5;
        const double below = std::floor(place);
        const auto clamped = [of](double index) {
            return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(of) - 1));
        };
        return std::tuple(clamped(below), clamped(below + 1), place - below);
    };
    for (std::uint32_t z = 0; z < now[2]; ++z) {
        for (std::uint32_t y = 0; y < now[1]; ++y) {
            for (std::uint32_t x = 0; x < now[0]; ++x) {
                const auto in_x = beside(x, now[0], before[0]);
                const auto in_y = beside(y, now[1], before[1]);
                const auto [z0, z1, c] = beside(z, now[2], before[2]);
                for (std::size_t i = 0; i < components; ++i) {
                    const auto at = [&](std::size_t u, std::size_t v, std::size_t w) {
                        return double{from[((w * before[1] + v) * before[0] + u) * components + i]};
                    };
                    const auto plane = [&](std::size_t w) {
                        const auto [x0, x1, a] = in_x;
                        const auto [y0, y1, b] = in_y;
                        return (at(x0, y0, w) * (1 - a) + at(x1, y0, w) * a) * (1 - b) +
                               (at(x0, y1, w) * (1 - a) + at(x1, y1, w) * a) * b;
                    };
                    to.push_back(static_cast<float>(plane(z0) * (1 - c) + plane(z1) * c));
                }
            }
        }
    }
    return to;
}

TEST_F(TextureKernels, MipsAreMadeOfTheOneBefore) {
    using enum ImageDimension;
    for (const ImageShape& shape :
         std::vector<ImageShape>{{two, TextureFormat::rgba8, 33, 7, 1, 6, 1, false},
                                 {two, TextureFormat::rgba8_srgb, 32, 32, 1, 6, 1, false},
                                 {two, TextureFormat::rg16f, 17, 64, 1, 4, 3, false},
                                 {two, TextureFormat::rgba16_snorm, 16, 16, 1, 5, 1, true},
                                 {one, TextureFormat::r32f, 257, 1, 1, 9, 2, false},
                                 {one, TextureFormat::r16, 64, 1, 1, 7, 1, false},
                                 {three, TextureFormat::rgba32f, 9, 8, 5, 4, 1, false},
                                 {cube, TextureFormat::rgba8, 16, 16, 1, 5, 6, false},
                                 {cube, TextureFormat::r8, 7, 7, 1, 3, 12, false}}) {
        SCOPED_TRACE(std::string(info_of(shape.format).name) + " " + std::to_string(shape.width) + " x " +
                     std::to_string(shape.height) + " x " + std::to_string(shape.depth));
        const auto image = make(shape);
        (void)fill(image, 0);
        device_->generate_mips(image, {0, shape.mips, 0, shape.layers, shape.dimension,
                                       shape.layers > (shape.dimension == cube ? 6U : 1U)});
        const TextureFormatInfo& info = info_of(shape.format);
        const auto numbers = [&](std::uint32_t mip) {
            const std::vector<std::byte> bytes = texels(image, mip);
            std::vector<float> values;
            for (std::size_t i = 0; i < bytes.size(); i += info.size()) {
                const Float4 texel = texel_of(shape.format, bytes.data() + i);
                values.insert(values.end(), texel.begin(), texel.begin() + info.components);
            }
            return values;
        };
        // Half a step of the format, in linear numbers.
        const float step = info.texel == TexelClass::srgb       ? 0.006F
                           : info.scalar == ScalarType::uint8   ? 0.51F / 255
                           : info.scalar == ScalarType::float16 ? 1.1e-3F
                           : info.scalar == ScalarType::float32 ? 1e-6F
                                                                : 0.51F / 32767;
        for (std::uint32_t mip = 1; mip < shape.mips; ++mip) {
            const std::vector<float> before = numbers(mip - 1);
            const std::vector<float> now = numbers(mip);
            const std::size_t each = before.size() / shape.layers;
            const std::size_t made = now.size() / shape.layers;
            for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
                const auto begin = before.begin() + static_cast<std::ptrdiff_t>(layer * each);
                const std::vector<float> expected =
                    reduced({begin, begin + static_cast<std::ptrdiff_t>(each)}, extent(shape, mip - 1),
                            extent(shape, mip), info.components);
                for (std::size_t i = 0; i < made; ++i)
                    ASSERT_NEAR(now[layer * made + i], expected[i], step)
                        << "mip " << mip << ", layer " << layer << ", number " << i;
            }
        }
    }
}

TEST_F(TextureKernels, RunInGraphsAndOnStreams) {
    const auto application = real_application();
    const auto image = make({ImageDimension::two, TextureFormat::rgba8, 16, 3, 1, 1, 1, true});
    const auto store =
        load("texture_store_2d", {8, 8, 1}, sizeof(BoxBlock), {{ResourceKind::writable_texture, 1}});
    const Box box{{0, 0, 0, 0}, {16, 3, 1, 0}};
    const ImageBinding binding{image, {0, 1, 0, 1, ImageDimension::two, false}, nullptr};
    const auto memory = upload(std::vector<Float4>(box.size(), Float4{1, 0, 1, 0}));
    BoxBlock block;
    block.memory = memory->address;
    block.box = box;
    const std::array resources{driver::Resource(binding)};
    const std::array uses{driver::Use{memory, false}};
    const driver::Dispatch dispatch{
        store.get(), {2, 1, 1}, std::as_bytes(std::span(&block, 1)), uses, resources};
    const auto expect = [&](std::byte first, std::byte second) {
        const std::vector<std::byte> found = texels(image, 0);
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i % 2 == 0 ? first : second) << i;
    };
    auto list = device_->make_recorder();
    list->dispatch(dispatch);
    (void)fill(image, 0);
    device_->submit(std::move(list));
    expect(std::byte{255}, std::byte{0});
    const auto graph = device_->make_graph();
    graph->dispatch(dispatch);
    (void)fill(image, 0);
    device_->replay(*graph);
    expect(std::byte{255}, std::byte{0});
    // Ordered after what another stream does with it.
    const auto stream = application->create_stream();
    const auto on = device_->on_stream(stream);
    (void)fill(image, 0);
    on->dispatch(dispatch);
    expect(std::byte{255}, std::byte{0});
}

}  // namespace
}  // namespace kf::test
