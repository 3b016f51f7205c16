// Textures on the CUDA driver: their texels on the way in and out, and what kernels are given of them.
#include <kf/error.h>

#include <numeric>

#include "core/texture_handle.h"
#include "testing.h"

namespace kf::test {
namespace {

using driver::ImageDimension;
using driver::ImageRegion;
using driver::ImageShape;
using ::testing::HasSubstr;

ImageShape shape_of(ImageDimension dimension, TextureFormat format, std::array<std::uint32_t, 3> extent,
                    std::uint32_t mips = 1, std::uint32_t layers = 1, bool writable = false) {
    return {dimension, format, extent[0], extent[1], extent[2], mips, layers, writable};
}

std::array<std::uint32_t, 3> extent_of(const ImageShape& shape, std::uint32_t mip) {
    const auto half = [mip](std::uint32_t extent) { return std::max(extent >> mip, 1U); };
    return {half(shape.width), half(shape.height), half(shape.depth)};
}

ImageRegion whole(const ImageShape& shape, std::uint32_t mip) {
    return {mip, 0, shape.layers, {}, extent_of(shape, mip)};
}

std::size_t bytes_of(const ImageShape& shape, const ImageRegion& region) {
    return std::size_t{region.extent[0]} * region.extent[1] * region.extent[2] * region.layers *
           info_of(shape.format).size();
}

/// Bytes that differ from their neighbours, and between seeds.
std::vector<std::byte> varied(std::size_t size, std::size_t seed) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>((i * 131 + seed * 29 + (i >> 8) * 7) & 0xFF);
    }
    return bytes;
}

std::string name_of(const ImageShape& shape) {
    return std::string(info_of(shape.format).name) + " " + std::to_string(static_cast<int>(shape.dimension)) +
           ": " + std::to_string(shape.width) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.depth) + ", " + std::to_string(shape.mips) + " mips, " +
           std::to_string(shape.layers) + " layers";
}

std::vector<ImageShape> every_shape() {
    using enum ImageDimension;
    using enum TextureFormat;
    std::vector<ImageShape> shapes;
    for (std::size_t i = 0; i < texture_formats.size(); ++i)
        shapes.push_back(shape_of(two, static_cast<TextureFormat>(i), {33, 7, 1}));
    for (const auto& extent : std::vector<std::array<std::uint32_t, 3>>{{1, 1, 1}, {7, 1, 1}, {257, 1, 1}}) {
        shapes.push_back(shape_of(one, rg16f, extent));
        shapes.push_back(shape_of(one, rgba8, extent, 1, 3));
    }
    shapes.push_back(shape_of(two, rgba8, {33, 257, 1}, 9));
    shapes.push_back(shape_of(two, r32f, {7, 33, 1}, 3, 5, true));
    shapes.push_back(shape_of(two, rgba8_srgb, {64, 64, 1}, 7));
    shapes.push_back(shape_of(three, rgba16, {7, 5, 33}, 6, 1, true));
    shapes.push_back(shape_of(three, r8ui, {257, 3, 2}));
    shapes.push_back(shape_of(cube, rgba32f, {33, 33, 1}, 2, 6));
    shapes.push_back(shape_of(cube, rgba8, {7, 7, 1}, 3, 18, true));
    return shapes;
}

class CudaTextureTest : public CudaTest {
protected:
    std::vector<std::byte> read(const std::shared_ptr<driver::Image>& image, const ImageRegion& region) {
        std::vector<std::byte> texels(bytes_of(image->shape, region), std::byte{0xAA});
        device_->read_back_image(image, region, texels);
        return texels;
    }
};

TEST_P(CudaTextureTest, TexelsComeBack) {
    for (const ImageShape& shape : every_shape()) {
        SCOPED_TRACE(name_of(shape));
        const auto image = device_->make_image(shape);
        EXPECT_EQ(image->shape, shape);
        for (std::uint32_t mip = 0; mip < shape.mips; ++mip) {
            const ImageRegion region = whole(shape, mip);
            device_->upload_image(image, region, varied(bytes_of(shape, region), mip));
        }
        for (std::uint32_t mip = 0; mip < shape.mips; ++mip) {
            const ImageRegion region = whole(shape, mip);
            EXPECT_EQ(read(image, region), varied(bytes_of(shape, region), mip)) << "mip " << mip;
        }
    }
}

TEST_P(CudaTextureTest, LargeOnesComeBack) {
    const ImageShape shape = shape_of(ImageDimension::two, TextureFormat::rgba8, {1000, 500, 1});
    const auto image = device_->make_image(shape);
    const std::vector<std::byte> texels = varied(bytes_of(shape, whole(shape, 0)), 3);
    device_->upload_image(image, whole(shape, 0), texels);
    EXPECT_EQ(read(image, whole(shape, 0)), texels);
}

TEST_P(CudaTextureTest, RegionsAreCopiedAlone) {
    using enum ImageDimension;
    struct Case {
        ImageShape shape;
        ImageRegion region;
    };
    for (const auto& [shape, region] : std::vector<Case>{
             {shape_of(one, TextureFormat::r16, {33, 1, 1}, 2, 4), {1, 1, 2, {3, 0, 0}, {5, 1, 1}}},
             {shape_of(two, TextureFormat::rgba8, {33, 17, 1}, 2, 3), {0, 2, 1, {1, 2, 0}, {7, 3, 1}}},
             {shape_of(three, TextureFormat::rg32f, {9, 8, 7}), {0, 0, 1, {2, 3, 4}, {5, 4, 3}}},
             {shape_of(cube, TextureFormat::r8, {8, 8, 1}, 1, 6), {0, 4, 2, {1, 1, 0}, {3, 5, 1}}}}) {
        SCOPED_TRACE(name_of(shape));
        const auto image = device_->make_image(shape);
        const ImageRegion all = whole(shape, region.mip);
        std::vector<std::byte> expected = varied(bytes_of(shape, all), 1);
        device_->upload_image(image, all, expected);
        const std::vector<std::byte> texels = varied(bytes_of(shape, region), 2);
        device_->upload_image(image, region, texels);
        EXPECT_EQ(read(image, region), texels);
        const std::size_t texel = info_of(shape.format).size();
        const std::size_t slices = std::max(region.extent[2], region.layers);
        const std::size_t first = std::max(region.offset[2], region.first_layer);
        for (std::size_t z = 0; z < slices; ++z) {
            for (std::size_t y = 0; y < region.extent[1]; ++y) {
                const std::size_t row = ((z + first) * all.extent[1] + region.offset[1] + y) * all.extent[0];
                std::copy_n(texels.begin() + static_cast<std::ptrdiff_t>((z * region.extent[1] + y) *
                                                                         region.extent[0] * texel),
                            region.extent[0] * texel,
                            expected.begin() + static_cast<std::ptrdiff_t>((row + region.offset[0]) * texel));
            }
        }
        EXPECT_EQ(read(image, all), expected);
    }
}

TEST_P(CudaTextureTest, MemoryOfTheDeviceIsCopied) {
    const ImageShape shape = shape_of(ImageDimension::two, TextureFormat::rgba16f, {33, 7, 1}, 2, 3);
    const auto image = device_->make_image(shape);
    const ImageRegion region{1, 1, 2, {2, 1, 0}, {9, 2, 1}};
    const std::vector<std::byte> texels = varied(bytes_of(shape, region), 5);
    const auto source = device_->allocate(texels.size() + 24);
    device_->upload(source, 24, texels);
    device_->copy_to_image(image, region, source, 24);
    EXPECT_EQ(read(image, region), texels);
    const auto target = device_->allocate(texels.size() + 8);
    device_->fill(target, 0, 8, 0x01020304);
    device_->copy_from_image(target, 8, image, region);
    std::vector<std::byte> back(texels.size());
    device_->read_back(target, 8, back);
    EXPECT_EQ(back, texels);
    EXPECT_THAT(error_of([&] { device_->copy_to_image(image, region, source, 32); }), HasSubstr("bytes"));
    EXPECT_THAT(error_of([&] { device_->copy_from_image(target, 16, image, region); }), HasSubstr("bytes"));
}

TEST_P(CudaTextureTest, WhatNoTextureIsIsRefused) {
    using enum ImageDimension;
    EXPECT_THAT(error_of([&] {
                    device_->make_image(shape_of(two, TextureFormat::rgba8, {0, 4, 1}));
                }),
                HasSubstr("at least one texel"));
    EXPECT_THAT(error_of([&] {
                    device_->make_image(shape_of(two, TextureFormat::rgba8, {1U << 20, 4, 1}));
                }),
                HasSubstr("can't make a 2D texture of 1048576 x 4, rgba8: it is too large for the device"));
    const auto image = device_->make_image(shape_of(two, TextureFormat::r32ui, {4, 4, 1}, 3));
    EXPECT_THAT(error_of([&] {
                    device_->generate_mips(image, {0, 3, 0, 1, two, false});
                }),
                HasSubstr("has integers"));
    EXPECT_THAT(error_of([&] {
                    device_->upload_image(image, {0, 0, 1, {1, 0, 0}, {4, 1, 1}}, {});
                }),
                HasSubstr("texels to write: 4 x 1 x 1 at 1 x 0 x 0"));
    driver::SamplerDescription sampler;
    sampler.compare = driver::Compare::less;
    EXPECT_THAT(error_of([&] { device_->make_sampler(sampler); }), HasSubstr("no samplers that compare"));
    sampler = {};
    sampler.minify = driver::Filter::nearest;
    EXPECT_THAT(error_of([&] { device_->make_sampler(sampler); }), HasSubstr("give both the same"));
}

TEST_P(CudaTextureTest, EqualSamplersAreOne) {
    driver::SamplerDescription description;
    const auto first = device_->make_sampler(description);
    EXPECT_EQ(device_->make_sampler(description), first);
    description.lod_bias = 1;
    EXPECT_NE(device_->make_sampler(description), first);
}

INSTANTIATE_TEST_SUITE_P(Drivers, CudaTextureTest, ::testing::Values(Driver::fake, Driver::real),
                         driver_name);

// ---- What kernels are given, which the fake driver can look at ----

class FakeTextureTest : public FakeCudaTest {
protected:
    FakeTextureTest() : device_(open()) {}

    /// A kernel with these slots behind 8 bytes of its own, whose block `run` sees.
    manifest::Kernel kernel(const std::vector<manifest::ResourceSlot>& slots,
                            const std::function<void(const std::byte*)>& run) {
        manifest::Kernel made = bare_kernel("look", {64, 1, 1}, 0);
        std::int64_t end = 8;
        for (const manifest::ResourceSlot& slot : slots) {
            made.layouts["cuda"].resource_places.push_back(end);
            end += manifest::handle_bytes(slot);
        }
        made.layouts["cuda"].size = end;
        made.resources = slots;
        made.images.push_back(cuda_image("cubin", "sm_90", FakeCuda::cubin("sm_90", "look"), "look"));
        fake_.block_sizes["look"] = static_cast<std::size_t>(end);
        fake_.kernels["look"] = [run](const std::byte* block, auto...) {
            run(block);
            return cuda::CUDA_SUCCESS;
        };
        return made;
    }

    void dispatch(const manifest::Kernel& kernel, const std::vector<driver::Resource>& resources) {
        const auto loaded = device_->load_kernel(kernel);
        const std::vector<std::byte> block(static_cast<std::size_t>(kernel.layouts.at("cuda").size));
        device_->dispatch({loaded.get(), {1, 1, 1}, block, {}, resources});
        device_->wait();
    }

    static manifest::ResourceSlot slot(const std::string& name, manifest::ResourceKind kind,
                                       std::int64_t samplers = 1,
                                       ImageDimension dimension = ImageDimension::two,
                                       bool is_array = false) {
        manifest::ResourceSlot made;
        made.name = name;
        made.kind = kind;
        made.writes = kind == manifest::ResourceKind::writable_texture;
        made.samplers = samplers;
        made.dimension = static_cast<manifest::kinds::TextureDimension>(dimension);
        made.is_array = is_array;
        return made;
    }

    std::shared_ptr<driver::Device> device_;
};

template <class T>
T read_at(const std::byte* block, std::size_t offset) {
    T value;
    std::memcpy(&value, block + offset, sizeof value);
    return value;
}

TEST_F(FakeTextureTest, TexturesHaveAnObjectForEachSampler) {
    using enum manifest::ResourceKind;
    const auto image =
        device_->make_image(shape_of(ImageDimension::two, TextureFormat::rg8, {40, 20, 1}, 4, 3));
    driver::SamplerDescription nearest;
    nearest.minify = nearest.magnify = nearest.mip = driver::Filter::nearest;
    nearest.address = {driver::Address::repeat, driver::Address::mirror, driver::Address::border};
    nearest.border = {0, 0, 0, 1};
    driver::SamplerDescription linear;
    linear.anisotropy = 4;
    linear.lod_min = 1;
    linear.lod_max = 2;
    int runs = 0;
    const manifest::Kernel look =
        kernel({slot("t", texture, 2, ImageDimension::two, true), slot("s", sampler),
                slot("c", combined_texture), slot("u", sampler)},
               [&](const std::byte* block) {
                   ++runs;
                   const auto first = read_at<std::uint64_t>(block, 8);
                   const auto second = read_at<std::uint64_t>(block, 16);
                   EXPECT_EQ(FakeCuda::texture(first).filterMode, cuda::CU_TR_FILTER_MODE_POINT);
                   EXPECT_EQ(FakeCuda::texture(first).addressMode[0], cuda::CU_TR_ADDRESS_MODE_WRAP);
                   EXPECT_EQ(FakeCuda::texture(first).addressMode[1], cuda::CU_TR_ADDRESS_MODE_MIRROR);
                   EXPECT_EQ(FakeCuda::texture(first).addressMode[2], cuda::CU_TR_ADDRESS_MODE_BORDER);
                   EXPECT_EQ(FakeCuda::texture(first).borderColor[3], 1);
                   EXPECT_EQ(FakeCuda::texture(second).filterMode, cuda::CU_TR_FILTER_MODE_LINEAR);
                   EXPECT_EQ(FakeCuda::texture(second).maxAnisotropy, 4U);
                   EXPECT_EQ(FakeCuda::texture(second).minMipmapLevelClamp, 1);
                   EXPECT_EQ(FakeCuda::texture(second).maxMipmapLevelClamp, 2);
                   EXPECT_EQ(FakeCuda::first_mip(first), 1U);
                   const auto extents = read_at<driver::TextureExtents>(block, 24);
                   EXPECT_EQ(extents.width, 20U);
                   EXPECT_EQ(extents.height, 10U);
                   EXPECT_EQ(extents.depth_or_layers, 2U);
                   EXPECT_EQ(extents.mips, 3U);
                   EXPECT_EQ(extents.first_layer, 1U);
                   EXPECT_EQ(extents.components, 2U);
                   EXPECT_EQ(read_at<driver::SamplerHandle>(block, 48).index, 0U);
                   const auto own = read_at<std::uint64_t>(block, 56);
                   EXPECT_EQ(FakeCuda::texture(own).filterMode, cuda::CU_TR_FILTER_MODE_LINEAR);
                   EXPECT_EQ(read_at<driver::TextureExtents>(block, 64).depth_or_layers, 1U);
                   EXPECT_EQ(read_at<driver::SamplerHandle>(block, 88).index, 1U);
               });
    const driver::ImageBinding seen{image, {1, 3, 1, 2, ImageDimension::two, true}, nullptr};
    const driver::ImageBinding own{
        image, {0, 1, 0, 1, ImageDimension::two, false}, device_->make_sampler(linear)};
    const std::vector<driver::Resource> resources{seen,
                                                  driver::SamplerBinding{device_->make_sampler(nearest)}, own,
                                                  driver::SamplerBinding{device_->make_sampler(linear)}};
    dispatch(look, resources);
    const std::size_t made = fake_.calls["cuTexObjectCreate"];
    EXPECT_EQ(made, 3U);
    dispatch(look, resources);
    EXPECT_EQ(fake_.calls["cuTexObjectCreate"], made) << "they are kept with the image";
    EXPECT_EQ(runs, 2);
}

TEST_F(FakeTextureTest, WrittenOnesHaveASurfaceOfOneMip) {
    const auto image =
        device_->make_image(shape_of(ImageDimension::three, TextureFormat::rgba16i, {12, 6, 5}, 2, 1, true));
    const manifest::Kernel look =
        kernel({slot("t", manifest::ResourceKind::writable_texture, 1, ImageDimension::three)},
               [](const std::byte* block) {
                   const auto handle = read_at<driver::WritableTextureHandle>(block, 8);
                   EXPECT_EQ(handle.width, 6U);
                   EXPECT_EQ(handle.height, 3U);
                   EXPECT_EQ(handle.depth_or_layers, 2U);
                   EXPECT_EQ(handle.first_layer, driver::no_layers);
                   EXPECT_EQ(handle.format, static_cast<std::uint32_t>(TextureFormat::rgba16i));
                   EXPECT_EQ(FakeCuda::texels(handle.surface).size(), 6U * 3 * 2 * 8);
                   std::ranges::fill(FakeCuda::texels(handle.surface), std::byte{7});
               });
    dispatch(look, {driver::ImageBinding{image, {1, 1, 0, 1, ImageDimension::three, false}, nullptr}});
    std::vector<std::byte> texels(6 * 3 * 2 * 8);
    device_->read_back_image(image, {1, 0, 1, {}, {6, 3, 2}}, texels);
    EXPECT_THAT(texels, ::testing::Each(std::byte{7}));
    const auto read_only = device_->make_image(shape_of(ImageDimension::three, TextureFormat::r8, {4, 4, 1}));
    EXPECT_THAT(error_of([&] {
                    dispatch(look, {driver::ImageBinding{
                                       read_only, {0, 1, 0, 1, ImageDimension::three, false}, nullptr}});
                }),
                HasSubstr("made read-only"));
}

TEST_F(FakeTextureTest, FacesOfCubesAreLayersToWhatOnlyLoads) {
    using enum manifest::ResourceKind;
    for (const std::uint32_t layers : {6U, 12U}) {
        const auto cube = device_->make_image(
            shape_of(ImageDimension::cube, TextureFormat::r8, {4, 4, 1}, 1, layers, true));
        const driver::ImageBinding faces{cube, {0, 1, 2, 3, ImageDimension::two, true}, nullptr};
        const auto loads = slot("t", texture, 1, ImageDimension::two, true);
        const auto stores = slot("w", writable_texture, 1, ImageDimension::two, true);
        dispatch(kernel({loads, stores},
                        [&](const std::byte* block) {
                            const auto extents = read_at<driver::TextureExtents>(block, 16);
                            EXPECT_EQ(extents.first_layer,
                                      2U | (layers == 6 ? driver::face_layers : driver::cube_layers));
                            EXPECT_EQ(extents.depth_or_layers, 3U);
                            EXPECT_EQ(FakeCuda::texture(read_at<std::uint64_t>(block, 8)).filterMode,
                                      cuda::CU_TR_FILTER_MODE_POINT);
                            EXPECT_EQ(read_at<driver::WritableTextureHandle>(block, 40).first_layer, 2U);
                        }),
                 {faces, faces});
        const manifest::Kernel samples = kernel({loads, slot("s", sampler)}, [](const std::byte*) {});
        EXPECT_THAT(error_of([&] {
                        dispatch(samples, {faces, driver::SamplerBinding{device_->make_sampler({})}});
                    }),
                    HasSubstr("CUDA can only load those"));
    }
}

TEST_F(FakeTextureTest, UsesOnSeveralStreamsAreInOrder) {
    const auto image =
        device_->make_image(shape_of(ImageDimension::two, TextureFormat::r8, {8, 8, 1}, 1, 1, true));
    const auto stream = fake_.create_stream();
    const auto on = device_->on_stream(stream);
    const ImageRegion region{0, 0, 1, {}, {8, 8, 1}};
    device_->upload_image(image, region, varied(64, 1));
    // The other stream's copy waits for the upload, and the next upload for the copy.
    const auto target = on->allocate(64);
    on->copy_from_image(target, 0, image, region);
    device_->upload_image(image, region, varied(64, 2));
    device_->wait();
    std::vector<std::byte> bytes(64);
    on->read_back(target, 0, bytes);
    EXPECT_EQ(bytes, varied(64, 1));
    on->read_back_image(image, region, bytes);
    EXPECT_EQ(bytes, varied(64, 2));
}

TEST_F(FakeTextureTest, ArraysGoWhenNoCommandNeedsThem) {
    auto image = device_->make_image(shape_of(ImageDimension::two, TextureFormat::r8, {8, 8, 1}, 1, 1, true));
    int runs = 0;
    const manifest::Kernel look =
        kernel({slot("t", manifest::ResourceKind::writable_texture)}, [&](const std::byte* block) {
            EXPECT_EQ(FakeCuda::texels(read_at<std::uint64_t>(block, 8)).size(), 64U);
            ++runs;
        });
    const auto loaded = device_->load_kernel(look);
    const std::vector<std::byte> block(40);
    const auto graph = device_->make_graph();
    const auto recorder = [&](driver::Recorder& to) {
        to.dispatch({loaded.get(),
                     {1, 1, 1},
                     block,
                     {},
                     std::array{driver::Resource(
                         driver::ImageBinding{image, {0, 1, 0, 1, ImageDimension::two, false}, nullptr})}});
    };
    auto list = device_->make_recorder();
    recorder(*graph);
    recorder(*list);
    image = nullptr;
    device_->submit(std::move(list));
    device_->replay(*graph);
    device_->replay(*graph);
    EXPECT_EQ(fake_.calls["cuArrayDestroy"], 0U);
    device_->wait();
    EXPECT_EQ(runs, 3);
}

TEST_F(FakeTextureTest, MemoryIsGivenBackForArrays) {
    const ImageShape shape = shape_of(ImageDimension::two, TextureFormat::r8, {8, 8, 1});
    fake_.failures["cuArray3DCreate_v2"] = cuda::CUDA_ERROR_OUT_OF_MEMORY;
    EXPECT_THAT(error_of([&] { device_->make_image(shape); }), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_EQ(fake_.calls["cuArray3DCreate_v2"], 2U);
    EXPECT_EQ(fake_.calls["cuMemPoolTrimTo"], 1U);
}

TEST_F(FakeTextureTest, ArraysAreMadeForGathersWhereTheyCan) {
    const ImageShape shape = shape_of(ImageDimension::two, TextureFormat::r8, {8, 8, 1});
    (void)device_->make_image(shape);
    EXPECT_EQ(fake_.calls["cuArray3DCreate_v2"], 1U);
    fake_.gathers = false;
    (void)device_->make_image(shape);
    EXPECT_EQ(fake_.calls["cuArray3DCreate_v2"], 3U);
}

TEST_F(FakeTextureTest, MipsAreMadeOneAfterTheOther) {
    struct Surface {
        std::uint64_t object;
        std::array<std::uint32_t, 6> numbers;
    };
    std::vector<std::array<Surface, 2>> blocks;
    fake_.block_sizes["kf_generate_mip"] = 64;
    fake_.kernels["kf_generate_mip"] = [&](const std::byte* block, const FakeCuda::Extents& groups, auto) {
        blocks.push_back(read_at<std::array<Surface, 2>>(block, 0));
        EXPECT_EQ(groups[2], 2U);
        return cuda::CUDA_SUCCESS;
    };
    const auto image =
        device_->make_image(shape_of(ImageDimension::two, TextureFormat::rgba8_srgb, {33, 7, 1}, 4, 5));
    device_->generate_mips(image, {1, 3, 2, 2, ImageDimension::two, true});
    device_->wait();
    ASSERT_EQ(blocks.size(), 2U);
    const std::array<std::uint32_t, 6> mip_1{16, 3, 2, 2, 36, 2};
    const std::array<std::uint32_t, 6> mip_2{8, 1, 2, 2, 36, 2};
    const std::array<std::uint32_t, 6> mip_3{4, 1, 2, 2, 36, 2};
    EXPECT_EQ(blocks[0][0].numbers, mip_1);
    EXPECT_EQ(blocks[0][1].numbers, mip_2);
    EXPECT_EQ(blocks[1][0].object, blocks[0][1].object);
    EXPECT_EQ(blocks[1][1].numbers, mip_3);
}

TEST_F(FakeTextureTest, ArraysOfOthersAreWrapped) {
    cuda::CUDA_ARRAY3D_DESCRIPTOR description;
    description.Width = 9;
    description.Height = 4;
    description.Format = cuda::CU_AD_FORMAT_UNSIGNED_INT8;
    description.NumChannels = 4;
    description.Flags = cuda::array_surface;
    driver::ForeignImage foreign;
    foreign.handle = reinterpret_cast<std::uint64_t>(fake_.create_array(description));
    foreign.shape = shape_of(ImageDimension::two, TextureFormat::rgba8, {9, 4, 1}, 1, 1, true);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> kept = owner;
    foreign.owner = std::move(owner);
    const driver::ForeignImage given = foreign;
    foreign.owner = nullptr;
    {
        auto copy = given;
        const auto image = device_->wrap_image(std::move(copy));
        device_->upload_image(image, {0, 0, 1, {}, {9, 4, 1}}, varied(144, 1));
        std::vector<std::byte> texels(144);
        device_->read_back_image(image, {0, 0, 1, {}, {9, 4, 1}}, texels);
        EXPECT_EQ(texels, varied(144, 1));
    }
    device_->wait();
    EXPECT_FALSE(kept.expired()) << "the test still holds it";
    EXPECT_EQ(fake_.calls["cuArrayDestroy"], 0U);
    foreign.shape.width = 8;
    EXPECT_THAT(error_of([&] { device_->wrap_image(foreign); }), HasSubstr("it has 9 x 4 x 0 texels"));
    foreign.shape = shape_of(ImageDimension::two, TextureFormat::rgba8i, {9, 4, 1});
    EXPECT_THAT(error_of([&] { device_->wrap_image(foreign); }), HasSubstr("its format is another one"));
    foreign.handle = 0;
    EXPECT_THAT(error_of([&] { device_->wrap_image(foreign); }), HasSubstr("no array to wrap"));
}

TEST_F(FakeTextureTest, NothingIsMadeWhileAStreamIsCaptured) {
    const ImageShape shape = shape_of(ImageDimension::two, TextureFormat::r8, {8, 8, 1});
    const auto image = device_->make_image(shape);
    const auto stream = fake_.create_stream();
    const auto on = device_->on_stream(stream);
    fake_.begin_capture(stream);
    EXPECT_THAT(error_of([&] { on->make_image(shape); }),
                HasSubstr("make textures before the capture begins"));
    EXPECT_THAT(error_of([&] {
                    on->upload_image(image, {0, 0, 1, {}, {8, 8, 1}}, varied(64, 1));
                }),
                HasSubstr("nothing can be copied in"));
    std::vector<std::byte> texels(64);
    EXPECT_THAT(error_of([&] {
                    on->read_back_image(image, {0, 0, 1, {}, {8, 8, 1}}, texels);
                }),
                HasSubstr("nothing can be read back"));
    // Others go on meanwhile.
    device_->upload_image(device_->make_image(shape), {0, 0, 1, {}, {8, 8, 1}}, varied(64, 1));
    fake_.destroy(fake_.end_capture(stream));
}

}  // namespace
}  // namespace kf::test
