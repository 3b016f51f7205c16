// Tests of textures and samplers on a Vulkan device that must stay silent.
#include "images_testing.h"
#include "runtime/fake_driver/vulkan.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
        const double step = format.texel == TexelClass::srgb ? 5e-3 : 0;
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
        const double step = size_of(format.scalar) == 1 ? 1.01 / 127 : 1e-3;
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

TEST_F(ImagesTest, LayersOutOfRangeAreNeitherReadNorWritten) {
    struct Block {
        std::int32_t x = 0;
        std::int32_t y = 0;
        std::int32_t layer = 0;
        float value = 0;
    };
    manifest::Kernel made = spirv_kernel("texture_layers", "texture_layers", {1, 1, 1},
                                         {sizeof(Block), {}, manifest::Passing::value, {0}});
    manifest::ResourceSlot slot = texture_slot("target", true);
    slot.kind = manifest::ResourceKind::writable_texture;
    slot.format = "r32f";
    slot.writes = true;
    made.resources = {slot};
    const auto kernel = device_->load_kernel(made);
    const auto image = make(two, TextureFormat::r32f, {3, 3, 1}, 1, 3, true);
    Floats texels(27, 1);
    device_->upload_image(image, whole_mip(image->shape, 0), bytes_of(texels));
    for (const std::int32_t layer : {-1, 3, 255, 65535, 65536, 65537, 1 << 30, -(1 << 30), 2}) {
        run(*device_, kernel, {1, 1, 1}, Block{0, 0, layer, 5},
            {driver::ImageBinding{image, {0, 1, 0, 3, two, true}, nullptr}});
    }
    texels[18] = 6;
    EXPECT_EQ(values(image), texels);
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

TEST(ImagesOfALesserDevice, AreRefusedByName) {
    const auto open_without = [](const char* words) {
        setenv("KF_VULKAN_WITHOUT", words, 1);
        auto device = vulkan::open_vulkan(0);
        unsetenv("KF_VULKAN_WITHOUT");
        return device;
    };
    const auto device = open_without("robust_images,storage_image_write_any,cube_arrays,sampler_anisotropy");
    const std::string& name = device->info().name;
    EXPECT_EQ(error_of([&] { (void)device->load_kernel(add_kernel()); }),
              "missing-feature: vulkan: kernel 'texture_add' can't run on " + name +
                  ", which lacks: storage_image_write_any, robust_images");
    EXPECT_EQ(error_of([&] {
                  (void)device->make_image({cube, TextureFormat::r8, 4, 4, 1, 1, 12});
              }),
              "missing-feature: vulkan: " + name + " has no arrays of cubes: it lacks cube_arrays");
    (void)device->make_image({cube, TextureFormat::r8, 4, 4, 1, 1, 6});
    driver::SamplerDescription description;
    (void)device->make_sampler(description);
    description.anisotropy = 2;
    EXPECT_EQ(
        error_of([&] { (void)device->make_sampler(description); }),
        "missing-feature: vulkan: " + name + " has no samplers with anisotropy: it lacks sampler_anisotropy");
}

TEST(ImagesOfALesserDevice, AreCounted) {
    FakeVulkan fake;
    fake.max_sampled_images = 2;
    vulkan::OpenOptions options;
    options.get_instance_proc_addr = fake.entry_point();
    const auto device = vulkan::open_vulkan(0, options);
    manifest::Kernel kernel = load_kernel();
    const auto add_texture = [&](std::int64_t place) {
        kernel.resources.push_back(texture_slot("more"));
        kernel.layouts["vulkan"].resource_places.push_back(place);
    };
    add_texture(2);
    (void)device->load_kernel(kernel);
    add_texture(3);
    EXPECT_EQ(error_of([&] { (void)device->load_kernel(kernel); }),
              "missing-feature: vulkan: kernel 'texture_load' can't run on " + device->info().name +
                  ", which lacks: 3 textures (at most 2)");
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
