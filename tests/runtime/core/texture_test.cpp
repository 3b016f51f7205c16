// Textures and samplers on a driver in host memory: makers, views, transfers, adoption, their types.
#include <kf/cuda.h>
#include <kf/invoke.h>
#include <kf/kf.h>
#include <kf/overload.h>
#include <kf/vulkan.h>

#include <gtest/gtest.h>

#include <concepts>
#include <numeric>
#include <type_traits>

#include "core/device_state.h"
#include "core/sampler_state.h"
#include "core/texture_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_images.h"

namespace {

using namespace kf;
using detail::Arg;
using kf::test::expect_error;
using kf::test::FakeImage;
using kf::test::FakeImages;
using testing::HasSubstr;

static_assert(std::is_convertible_v<RWTexture2D<float4>, Texture2D<float4>>);
static_assert(!std::is_convertible_v<Texture2D<float4>, RWTexture2D<float4>> &&
                  !std::is_constructible_v<RWTexture2D<float4>, Texture2D<float4>>,
              "what is only read isn't written");
static_assert(!std::is_convertible_v<RWTexture2D<float4>, Texture2D<float>>);
static_assert(!std::is_convertible_v<RWTexture2D<float4>, Texture3D<float4>>);
static_assert(!std::is_convertible_v<RWTexture2DArray<float4>, Texture2D<float4>>);
static_assert(!std::is_convertible_v<AnyTexture, Texture2D<float4>>, "it is checked");
static_assert(!std::is_convertible_v<Tensor<float4, 2>, Texture2D<float4>>);
static_assert(!std::is_convertible_v<Texture2D<float4>, Sampler2D<float4>>);
static_assert(std::same_as<decltype(RWTextureCube<float>().layer(0)), RWTexture2D<float>>);
static_assert(std::same_as<decltype(TextureCubeArray<float>().cube(0)), TextureCube<float>>);
static_assert(std::same_as<decltype(TextureCubeArray<float>().layers(0, 6)), Texture2DArray<float>>);
static_assert(std::same_as<decltype(Texture1DArray<int>().layer(0)), Texture1D<int>>);
static_assert(std::same_as<Texture2D<float3>::Stored, float4>);

template <class T>
concept HasLayers = requires(const T& texture) {
    texture.layer(0);
};
static_assert(HasLayers<Texture2DArray<float>> && HasLayers<TextureCube<float>>);
static_assert(!HasLayers<Texture2D<float>> && !HasLayers<Texture3D<float>>);

/// What may be given to a function that writes.
template <class T>
concept IsOutput = requires(const T& texture) {
    kf::out(texture);
};
static_assert(IsOutput<RWTexture2D<float4>> && !IsOutput<Texture2D<float4>>);

using Writer = Overload<0, void(const RWTexture2D<float4>&, const Texture2D<float4>&)>;
struct Write : Overloads<PassKind::forward, Writer> {
    using Overloads::Overloads;
};
static_assert(std::is_invocable_v<Write, RWTexture2D<float4>, Texture2D<float4>>);
static_assert(std::is_invocable_v<Write, RWTexture2D<float4>, RWTexture2D<float4>>);
static_assert(!std::is_invocable_v<Write, Texture2D<float4>, Texture2D<float4>>,
              "a writer isn't given what is only read");
static_assert(!std::is_invocable_v<Write, RWTexture2D<float4>, Texture2D<int4>>);

/// 0, 1, 2 … as texels.
template <class U>
std::vector<U> counting(std::size_t count) {
    std::vector<U> texels(count);
    auto* bytes = reinterpret_cast<std::uint8_t*>(texels.data());
    std::iota(bytes, bytes + count * sizeof(U), std::uint8_t{1});
    return texels;
}

class TextureTest : public testing::Test {
protected:
    TextureShape shape_of(const Dims& extents, TextureFormat format = TextureFormat::rgba8) {
        TextureShape shape;
        shape.dimensions = static_cast<int>(extents.size());
        shape.extents = extents;
        shape.format = format;
        return shape;
    }
    void expect_refused(const TextureShape& shape, ErrorCode code, const std::string& text) {
        expect_error(code, HasSubstr(text), [&] { (void)AnyTexture::empty(device, shape); });
    }
    static const FakeImage& image_of(const AnyTexture& texture) {
        return dynamic_cast<const FakeImage&>(*texture.state()->image);
    }

    std::shared_ptr<FakeImages> fake = std::make_shared<FakeImages>();
    Device device = detail::make_device(fake);
};

TEST_F(TextureTest, HaveTheFormatsOfTheirTypes) {
    EXPECT_EQ((RWTexture2D<float4>::empty(device, {3, 5}).format()), TextureFormat::rgba32f);
    EXPECT_EQ((RWTexture2D<float3>::empty(device, {3, 5}).format()), TextureFormat::rgba32f);
    EXPECT_EQ((Texture1D<float2>::empty(device, {3}).format()), TextureFormat::rg32f);
    EXPECT_EQ((Texture3D<float>::empty(device, {3, 2, 1}).format()), TextureFormat::r32f);
    EXPECT_EQ((Texture2D<half4>::empty(device, {1, 1}).format()), TextureFormat::rgba16f);
    EXPECT_EQ((Texture2D<int>::empty(device, {1, 1}).format()), TextureFormat::r32i);
    EXPECT_EQ((Texture2D<uint3>::empty(device, {1, 1}).format()), TextureFormat::rgba32ui);
    const auto bytes = RWTexture2D<float4>::empty(device, {3, 5}, {.format = TextureFormat::rgba8});
    EXPECT_EQ(bytes.format(), TextureFormat::rgba8);
    EXPECT_EQ(bytes.shape(), (Shape<2>{3, 5}));
    const driver::ImageShape& image = image_of(bytes.any()).shape;
    EXPECT_EQ(image.width, 5U);
    EXPECT_EQ(image.height, 3U);
    EXPECT_TRUE(image.is_writable);
    EXPECT_FALSE(image_of(Texture2D<float>::empty(device, {1, 1}).any()).shape.is_writable);
}

TEST_F(TextureTest, KeepTheirTexels) {
    const auto texels = counting<float2>(15);
    const auto texture = Texture2D<float2>::from(device, {3, 5}, texels);
    EXPECT_EQ(texture.to_vector(), texels);
    const auto changed = counting<float2>(16);
    texture.copy_from(std::span(changed).subspan(1));
    EXPECT_EQ(texture.to_vector()[0], changed[1]);
    EXPECT_EQ(texture.try_to_vector().value()[14], changed[15]);
    const auto layered = Texture2DArray<float4>::from(device, {2, 3}, counting<uint8_t4>(24),
                                                      {.format = TextureFormat::rgba8, .layers = 4});
    EXPECT_EQ(layered.to_vector<uint8_t4>(), counting<uint8_t4>(24));
    EXPECT_EQ(layered.layer(2).to_vector<uint8_t4>()[0], counting<uint8_t4>(24)[12]);
    EXPECT_EQ(layered.layers(), 4);
}

TEST_F(TextureTest, RefuseOtherTexels) {
    const auto texture = RWTexture2D<float4>::empty(device, {3, 5}, {.format = TextureFormat::rgba8});
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("texels of rgba8 are uint8_t4 on the host, which has float4"),
                 [&] { (void)texture.to_vector(); });
    EXPECT_FALSE(texture.try_copy_from(counting<float4>(15)).ok());
    expect_error(ErrorCode::shape_mismatch,
                 HasSubstr("write: 15 texels of 4 bytes (rgba8) are 60 bytes, the host side has 56"),
                 [&] { texture.copy_from(counting<uint8_t4>(14)); });
    std::vector<std::byte> bytes(61);
    expect_error(ErrorCode::shape_mismatch, HasSubstr("read: 15 texels"), [&] { texture.any().read(bytes); });
    expect_error(ErrorCode::missing_argument, HasSubstr("the texture is null"),
                 [] { AnyTexture().write({}); });
}

TEST_F(TextureTest, RefuseImpossibleShapes) {
    expect_refused(shape_of({0, 3}), ErrorCode::shape_mismatch,
                   "extents are at least 1 and fit 32 bits, found [0, 3]");
    expect_refused(shape_of({3, std::int64_t{1} << 32}), ErrorCode::shape_mismatch, "fit 32 bits");
    expect_refused(shape_of({3, -1}), ErrorCode::shape_mismatch, "found [3, -1]");
    TextureShape shape = shape_of({4, 4});
    shape.dimensions = 4;
    expect_refused(shape, ErrorCode::rank_mismatch, "it has 4 dimensions; expected 1, 2 or 3");
    shape.dimensions = 1;
    expect_refused(shape, ErrorCode::rank_mismatch,
                   "a 1D texture has 1 extent (neither layers nor channels count), found [4, 4]");
    shape = shape_of({4, 3});
    shape.is_cube = true;
    expect_refused(shape, ErrorCode::shape_mismatch, "a cube's faces are square, found [4, 3]");
    shape.extents = {4, 4};
    shape.layers = 12;
    expect_refused(shape, ErrorCode::shape_mismatch, "a cube has 6 layers, found 12");
    shape.is_array = true;
    shape.layers = 8;
    expect_refused(shape, ErrorCode::shape_mismatch, "an array of cubes 6 for each, found 8");
    shape = shape_of({4, 4});
    shape.layers = 2;
    expect_refused(shape, ErrorCode::shape_mismatch,
                   "only arrays and cubes have layers, found 2 of a 2D texture");
    shape.is_array = true;
    shape.layers = 0;
    expect_refused(shape, ErrorCode::shape_mismatch, "it has at least 1 layer, found 0");
    shape = shape_of({4, 4, 4});
    shape.is_array = true;
    expect_refused(shape, ErrorCode::rank_mismatch, "there are no arrays of 3D textures");
    shape = shape_of({33, 7});
    shape.mips = 7;
    expect_refused(shape, ErrorCode::index_range, "of extents [33, 7] there are 6 mips, not 7");
    shape.mips = -1;
    expect_refused(shape, ErrorCode::index_range, "not -1");
    shape = shape_of({4, 4}, TextureFormat::rgba8_srgb);
    shape.writable = true;
    expect_refused(shape, ErrorCode::type_mismatch, "no call writes rgba8_srgb; write to one of rgba8");
    shape.format = static_cast<TextureFormat>(99);
    expect_refused(shape, ErrorCode::value_range, "there is no format 99");
    expect_error(ErrorCode::missing_argument, HasSubstr("the device is null"),
                 [&] { (void)AnyTexture::empty(Device(), shape_of({1})); });
    EXPECT_FALSE(device.try_make([&] { return Texture2D<float>::empty(device, {0, 1}); }).ok());
}

TEST_F(TextureTest, SayWhatTheyAre) {
    TextureShape shape = shape_of({3, 4});
    EXPECT_EQ(to_string(shape), "2D rgba8 texture of shape [3, 4]");
    shape.mips = 2;
    shape.is_array = true;
    shape.layers = 5;
    EXPECT_EQ(to_string(shape), "2D array rgba8 texture of shape [3, 4], 5 layers, 2 mips");
    shape.is_cube = true;
    shape.layers = 12;
    EXPECT_EQ(to_string(shape), "cube array rgba8 texture of shape [3, 4], 2 cubes, 2 mips");
}

TEST_F(TextureTest, HaveViewsOfMips) {
    const auto texture = RWTexture2D<float>::empty(device, {33, 7}, {.mips = 0});
    EXPECT_EQ(texture.mips(), 6);
    EXPECT_EQ(texture.mip(1).shape(), (Shape<2>{16, 3}));
    EXPECT_EQ(texture.mip(-1).shape(), (Shape<2>{1, 1}));
    EXPECT_EQ(texture.mip(4).shape(), (Shape<2>{2, 1}));
    const auto two = texture.mips(1, 3).mips(1, 2);
    EXPECT_EQ(two.shape(), (Shape<2>{8, 1}));
    EXPECT_EQ(two.mips(), 2);
    EXPECT_EQ(two.any().state()->range.first_mip, 2U);
    texture.mip(2).copy_from(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(two.to_vector(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_TRUE(two.mip(0).any().is_same_view(texture.mip(2).any()));
    EXPECT_FALSE(two.any().is_same_view(texture.mip(2).any()));
    expect_error(ErrorCode::index_range, HasSubstr("mip: there is no mip 6; there are 6 mips"),
                 [&] { (void)texture.mip(6); });
    expect_error(ErrorCode::index_range, HasSubstr("mips: 3 mips from 4 on, of 6 mips"),
                 [&] { (void)texture.mips(4, 3); });
    expect_error(ErrorCode::index_range, HasSubstr("mips: 0 mips from 0 on"),
                 [&] { (void)texture.mips(0, 0); });
    expect_error(ErrorCode::index_range, HasSubstr("mips: 9223372036854775807 mips from 1 on"),
                 [&] { (void)texture.mips(1, INT64_MAX); });
    EXPECT_EQ((Texture3D<float>::empty(device, {4, 1, 9}, {.mips = 3}).mip(2).shape()), (Shape<3>{1, 1, 2}));
}

TEST_F(TextureTest, HaveViewsOfLayers) {
    const auto array = RWTexture1DArray<int>::empty(device, {3}, {.layers = 4});
    array.copy_from(std::vector<int>{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
    EXPECT_EQ(array.layer(2).to_vector(), (std::vector<int>{20, 21, 22}));
    EXPECT_EQ(array.layer(-1).to_vector(), (std::vector<int>{30, 31, 32}));
    EXPECT_EQ(array.layers(1, 2).layers(1, 1).to_vector(), (std::vector<int>{20, 21, 22}));
    EXPECT_EQ(array.layers(1, 3).layers(), 3);
    expect_error(ErrorCode::index_range, HasSubstr("layer: there is no layer 4; there are 4 layers"),
                 [&] { (void)array.layer(4); });
    expect_error(ErrorCode::rank_mismatch,
                 HasSubstr("layer: a 2D texture has no layers; arrays and cubes have"), [&] {
                     (void)AnyTexture::empty(device, shape_of({1, 1})).layer(0);
                 });
}

TEST_F(TextureTest, HaveViewsOfFaces) {
    const auto cube = RWTextureCube<float>::empty(device, {2, 2}, {.mips = 2});
    EXPECT_EQ(cube.layers(), 6);
    cube.layer(5).copy_from(std::vector<float>{1, 2, 3, 4});
    EXPECT_EQ(cube.layers(4, 2).to_vector()[4], 1);
    const auto cubes = RWTextureCubeArray<float>::empty(device, {2, 2}, {.layers = 18});
    cubes.layer(7).copy_from(std::vector<float>{5, 6, 7, 8});
    EXPECT_EQ(cubes.cube(1).layer(1).to_vector(), (std::vector<float>{5, 6, 7, 8}));
    EXPECT_EQ(cubes.cubes(1, 2).layers(), 12);
    EXPECT_EQ(cubes.cubes(1, 2).cube(-1).any().state()->range.first_layer, 12U);
    const driver::ImageRange face = cube.layer(3).any().state()->range;
    EXPECT_EQ(face.dimension, driver::ImageDimension::two);
    EXPECT_FALSE(face.is_array);
    EXPECT_EQ(face.first_layer, 3U);
    EXPECT_TRUE(cube.layers(1, 3).any().state()->range.is_array);
    expect_error(ErrorCode::index_range, HasSubstr("there is no cube 3; there are 3 cubes"),
                 [&] { (void)cubes.cube(3); });
    expect_error(ErrorCode::rank_mismatch, HasSubstr("cube: a cube texture is no array of cubes"),
                 [&] { (void)cube.any().cube(0); });
}

TEST_F(TextureTest, AreWrittenInParts) {
    const auto texture = RWTexture2D<int>::empty(device, {3, 4});
    texture.copy_from(std::vector<int>(12, 0));
    texture.copy_region_from({1, 2}, {2, 2}, std::vector<int>{1, 2, 3, 4});
    EXPECT_EQ(texture.to_vector(), (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4}));
    EXPECT_EQ(texture.region_to_vector({0, 3}, {2, 1}), (std::vector<int>{0, 2}));
    const auto volume = RWTexture3D<int>::empty(device, {2, 2, 2});
    volume.copy_from(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(volume.region_to_vector({1, 0, 1}, {1, 2, 1}), (std::vector<int>{5, 7}));
    const auto array = RWTexture1DArray<int>::empty(device, {3}, {.layers = 2});
    array.copy_from(std::vector<int>{0, 1, 2, 3, 4, 5});
    EXPECT_EQ(array.region_to_vector({1}, {1}), (std::vector<int>{1, 4})) << "of each layer";
    expect_error(ErrorCode::index_range,
                 HasSubstr("write_region: offset [1, 2], extent [2, 3] lie outside of it; the texture has "
                           "shape [3, 4]"),
                 [&] {
                     texture.copy_region_from({1, 2}, {2, 3}, std::vector<int>(6));
                 });
    for (const auto& [offset, extent] : {std::pair{Dims{-1, 0}, Dims{1, 1}},
                                         {Dims{3, 0}, Dims{1, 1}},
                                         {Dims{0, 0}, Dims{0, 1}},
                                         {Dims{0, 1}, Dims{1, INT64_MAX}}}) {
        expect_error(ErrorCode::index_range, HasSubstr("lie outside"),
                     [&, at = offset, size = extent] { texture.any().write_region(at, size, {}); });
    }
    expect_error(ErrorCode::rank_mismatch, HasSubstr("neither layers nor channels count"), [&] {
        array.any().write_region({0, 0}, {1, 1}, {});
    });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("write_region: 4 texels of 4 bytes"), [&] {
        texture.copy_region_from({0, 0}, {2, 2}, std::vector<int>(3));
    });
    EXPECT_FALSE(texture.try_copy_region_from({2, 0}, {2, 2}, std::vector<int>(4)).ok());
    EXPECT_FALSE(texture.try_region_to_vector({2, 0}, {2, 2}).ok());
}

TEST_F(TextureTest, BecomeTensorsAndComeFromThem) {
    const auto texture = RWTexture2DArray<float4>::empty(
        device, {3, 5}, {.format = TextureFormat::rgba8, .mips = 2, .layers = 2});
    const auto texels = counting<uint8_t4>(30);
    texture.copy_from(device.tensor<uint8_t4>(std::span(texels), {2, 3, 5}));
    EXPECT_EQ(texture.to_vector<uint8_t4>(), texels);
    const Tensor<uint8_t4, 3> tensor = texture.to_tensor<uint8_t4>();
    EXPECT_EQ(tensor.shape(), (Shape<3>{2, 3, 5}));
    EXPECT_EQ(tensor.to_vector(), texels);
    EXPECT_EQ(texture.mip(1).to_tensor<uint8_t4>().shape(), (Shape<3>{2, 1, 2}));
    const std::vector<std::uint8_t> bytes(120, 7);
    texture.copy_from(device.tensor<std::uint8_t>(std::span(bytes), {2, 3, 5, 4}));
    EXPECT_EQ(texture.to_vector<uint8_t4>()[29], (uint8_t4{7, 7, 7, 7}));
    const auto into = device.empty<uint8_t4>({2, 3, 5});
    texture.copy_to(into);
    EXPECT_EQ(into.to_vector()[29], (uint8_t4{7, 7, 7, 7}));
    const auto one = RWTexture1D<float>::empty(device, {3});
    one.copy_from(device.tensor<float>({1, 2, 3}));
    one.copy_from(device.tensor<float>({{4}, {5}, {6}}));
    EXPECT_EQ(one.to_tensor().to_vector(), (std::vector<float>{4, 5, 6}));
}

TEST_F(TextureTest, AreMadeOfTensors) {
    const auto texels = counting<uint8_t4>(12);
    const auto image = Texture2D<float4>::from(device.tensor<uint8_t4>(std::span(texels), {3, 4}),
                                               {.format = TextureFormat::rgba8, .mips = 2});
    EXPECT_EQ(image.shape(), (Shape<2>{3, 4}));
    EXPECT_EQ(image.mips(), 2);
    EXPECT_EQ(image.to_vector<uint8_t4>(), texels);
    const auto array = RWTexture1DArray<float>::from(device.tensor<float>({{1, 2, 3}, {4, 5, 6}}));
    EXPECT_EQ(array.layers(), 2);
    EXPECT_EQ(array.layer(1).to_vector(), (std::vector<float>{4, 5, 6}));
    expect_error(ErrorCode::type_mismatch, HasSubstr("texels of r32f are float, found an int tensor"), [&] {
        (void)Texture1D<float>::from(device.tensor<int>({1, 2}));
    });
    EXPECT_FALSE(device.try_make([&] { return Texture1D<float>::from(Tensor<float, 1>()); }).ok());
}

TEST_F(TextureTest, TakeTensorsThatBeginAnywhere) {
    const auto numbers = device.tensor<float>({0, 1, 2, 3, 4, 5, 6, 7, 8});
    const auto texture = RWTexture1D<float4>::empty(device, {2});
    texture.copy_from(numbers.slice(0, 1, 9).reshape({2, 4}));
    EXPECT_EQ(texture.to_vector(), (std::vector<float4>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
    const auto into = device.zeros<float>({10});
    texture.copy_to(into.slice(0, 1, 9).reshape({2, 4}));
    EXPECT_EQ(into.to_vector(), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0}));
}

TEST_F(TextureTest, RefuseOtherTensors) {
    const auto texture = RWTexture2D<float4>::empty(device, {3, 5}, {.format = TextureFormat::rgba8});
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("copy_from: texels of rgba8 are uint8_t4, found a float4 tensor of shape [3, 5]; "
                           "nothing is converted: a function that writes a texture of rgba8 from a tensor"),
                 [&] {
                     texture.copy_from(device.zeros<float4>({3, 5}));
                 });
    expect_error(ErrorCode::shape_mismatch,
                 HasSubstr("copy_to: expected a uint8_t4 tensor of shape [3, 5] (or a uint8_t tensor of "
                           "shape [3, 5, 4]), found a uint8_t tensor of shape [3, 5, 3]"),
                 [&] {
                     texture.copy_to(device.zeros<std::uint8_t>({3, 5, 3}));
                 });
    expect_error(ErrorCode::layout_mismatch, HasSubstr("the tensor isn't contiguous"), [&] {
        texture.copy_from(device.zeros<uint8_t4>({5, 3}).transpose());
    });
    expect_error(ErrorCode::device_mismatch, HasSubstr("the texture is on fake:0, the tensor on fake:0"),
                 [&] {
                     const Device other = detail::make_device(std::make_shared<FakeImages>());
                     texture.copy_from(other.zeros<uint8_t4>({3, 5}));
                 });
    expect_error(ErrorCode::missing_argument, HasSubstr("the tensor is null"),
                 [&] { texture.copy_from(Tensor<uint8_t4, 2>()); });
    EXPECT_FALSE(texture.try_to_tensor().ok()) << "of float4";
}

TEST_F(TextureTest, HaveMipsGenerated) {
    const auto texture = RWTexture2D<float>::empty(device, {8, 8}, {.mips = 0});
    texture.mips(1, 3).generate_mips();
    texture.mip(0).generate_mips();  // nothing to do
    ASSERT_EQ(fake->mips_generated.size(), 1U);
    EXPECT_EQ(fake->mips_generated[0].first_mip, 1U);
    EXPECT_EQ(fake->mips_generated[0].mips, 3U);
    expect_error(ErrorCode::type_mismatch, HasSubstr("texels of r32ui are integers, which have no mean"),
                 [&] {
                     RWTexture2D<std::uint32_t>::empty(device, {8, 8}, {.mips = 2}).generate_mips();
                 });
}

TEST_F(TextureTest, AreTyped) {
    TextureShape shape = shape_of({3, 5});
    shape.writable = true;
    const AnyTexture any = AnyTexture::empty(device, shape);
    EXPECT_NO_THROW((RWTexture2D<float4>(any)));
    EXPECT_NO_THROW((Texture2D<half>(any)));
    EXPECT_NO_THROW((RWTexture2D<float4>(AnyTexture())));
    expect_error(ErrorCode::rank_mismatch,
                 HasSubstr("expected a 2D array texture, found a 2D rgba8 texture of shape [3, 5]"),
                 [&] { (void)Texture2DArray<float4>(any); });
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("expected a texture of int4, found rgba8, whose texels are read as floats"),
                 [&] { (void)Texture2D<int4>(any); });
    shape.writable = false;
    shape.format = TextureFormat::rgba8ui;
    expect_error(ErrorCode::type_mismatch, HasSubstr("read as uints"),
                 [&] { (void)Texture2D<float4>(AnyTexture::empty(device, shape)); });
    expect_error(ErrorCode::type_mismatch, HasSubstr("expected a texture that is writable"),
                 [&] { (void)RWTexture2D<uint4>(AnyTexture::empty(device, shape)); });
}

TEST_F(TextureTest, OutliveTheirDevice) {
    const auto texture = Texture1D<float>::from(device, {2}, std::vector<float>{1, 2});
    device = Device();
    EXPECT_EQ(texture.to_vector(), (std::vector<float>{1, 2}));
    EXPECT_EQ(texture.device().info().id, "fake:0");
}

TEST_F(TextureTest, AreArguments) {
    const auto texture = RWTexture2D<float4>::empty(device, {3, 5});
    const Texture2D<float4> read = texture;
    const Sampler sampler(SamplerOptions{});
    EXPECT_EQ(Arg::in(texture).kind, Arg::Kind::texture);
    EXPECT_EQ(Arg::in(read).texture, &read.any());
    EXPECT_EQ(Arg::in(read).sampler, nullptr);
    const auto output = kf::out(texture);
    EXPECT_EQ(Arg::out(output).texture, &output.target.any());
    EXPECT_EQ(Arg::in(sampler).kind, Arg::Kind::sampler);
    EXPECT_EQ(Arg::in(sampler).sampler, &sampler);
    const Sampler2D<float4> both = read.with_sampler(sampler);
    EXPECT_EQ(Arg::in(both).kind, Arg::Kind::texture);
    EXPECT_EQ(Arg::in(both).sampler, &both.sampler());
    EXPECT_FALSE(both.texture().any().sampler());
    EXPECT_TRUE(both.any().is_same_view(read.any()));
    EXPECT_EQ(Arg::in(Texture2D<float4>()).kind, Arg::Kind::absent);
    EXPECT_EQ(Arg::in(Sampler()).kind, Arg::Kind::absent);
    expect_error(ErrorCode::missing_argument, HasSubstr("with_sampler: the sampler is null"),
                 [&] { (void)texture.with_sampler({}); });
    expect_error(ErrorCode::missing_argument, HasSubstr("expected a texture with a sampler"),
                 [&] { (void)Sampler2D<float4>(texture.any()); });
}

TEST_F(TextureTest, AreAdopted) {
    fake->editable_info().backend = "vulkan";
    device = detail::make_device(fake);
    auto owner = std::make_shared<int>();
    auto* handle = reinterpret_cast<VkImage_T*>(0x1234);
    TextureShape shape = shape_of({4, 4});
    shape.mips = 2;
    const Texture2D<float4> texture(adopt(device, VulkanImage{handle, shape, 7, owner}));
    EXPECT_EQ(texture.mips(), 2);
    const driver::ForeignImage& foreign = image_of(texture.any()).foreign;
    EXPECT_EQ(foreign.handle, 0x1234U);
    EXPECT_EQ(foreign.layout, 7U);
    EXPECT_EQ(foreign.owner, owner);
    EXPECT_EQ(foreign.shape.mips, 2U);
    expect_error(ErrorCode::missing_argument, HasSubstr("the VkImage is null"),
                 [&] { (void)adopt(device, VulkanImage{}); });
    expect_error(ErrorCode::device_mismatch, HasSubstr("vulkan:0 (Fake) has no CUarray"),
                 [&] { (void)adopt(device, CudaArray{}); });
    fake->editable_info().backend = "cuda";
    device = detail::make_device(fake);
    auto* mipmapped = reinterpret_cast<CUmipmappedArray_st*>(0x5678);
    auto* array = reinterpret_cast<CUarray_st*>(0x9abc);
    const AnyTexture adopted = adopt(device, CudaArray{nullptr, mipmapped, shape, owner});
    EXPECT_EQ(image_of(adopted).foreign.handle, 0x5678U);
    EXPECT_TRUE(image_of(adopted).foreign.is_mipmapped);
    expect_error(ErrorCode::missing_argument, HasSubstr("an array has 1 mip, not 2"), [&] {
        (void)adopt(device, CudaArray{array, nullptr, shape, {}});
    });
    expect_error(ErrorCode::missing_argument, HasSubstr("found both"), [&] {
        (void)adopt(device, CudaArray{array, mipmapped, shape, {}});
    });
}

class SamplerTest : public TextureTest {
protected:
    static std::shared_ptr<driver::Sampler> on(const Sampler& sampler, const Device& device) {
        return detail::sampler_on(sampler, *device.state());
    }
    static void expect_refused(const SamplerOptions& options, const std::string& text) {
        expect_error(ErrorCode::value_range, HasSubstr(text), [&] { (void)Sampler(options); });
    }
};

TEST_F(SamplerTest, AreMadeWhenADeviceNeedsThem) {
    const Sampler sampler({.filter = {Filter::nearest, Filter::linear, Filter::nearest},
                           .address = {AddressMode::repeat, AddressMode::border},
                           .lod = {.min = 1, .max = 2, .bias = -1},
                           .border = Border::opaque_white});
    EXPECT_EQ(fake->samplers_made, 0U);
    const auto made = on(sampler, device);
    EXPECT_EQ(made->description.minify, Filter::nearest);
    EXPECT_EQ(made->description.magnify, Filter::linear);
    EXPECT_EQ(made->description.address,
              (std::array{AddressMode::repeat, AddressMode::border, AddressMode::clamp}));
    EXPECT_EQ(made->description.lod_min, 1);
    EXPECT_EQ(made->description.lod_max, 2);
    EXPECT_EQ(made->description.lod_bias, -1);
    EXPECT_EQ(made->description.border, (std::array<float, 4>{1, 1, 1, 1}));
    EXPECT_EQ(on(sampler, device), made);
    EXPECT_EQ(on(Sampler(sampler.options()), device), made) << "equal ones share one";
    EXPECT_EQ(fake->samplers_made, 1U);
    const auto other = std::make_shared<FakeImages>();
    EXPECT_NE(on(sampler, detail::make_device(other)), made);
    EXPECT_EQ(other->samplers_made, 1U);
    EXPECT_EQ(on(sampler, device), made);
    EXPECT_FALSE(sampler.is_comparison());
    EXPECT_TRUE(Sampler({.compare = Compare::less}).is_comparison());
    (void)Sampler(device, {.filter = Filter::nearest});
    EXPECT_EQ(fake->samplers_made, 2U) << "at once";
}

TEST_F(SamplerTest, KeepNoDevice) {
    const Sampler sampler(SamplerOptions{});
    (void)on(sampler, device);
    const std::weak_ptr<FakeImages> closed = fake;
    device = Device();
    fake.reset();
    EXPECT_TRUE(closed.expired());
}

TEST_F(SamplerTest, AreForgottenWhereThereAreMany) {
    const Sampler kept({.anisotropy = 2});
    const auto made = on(kept, device);
    for (int i = 0; i < 1000; ++i) (void)on(Sampler({.lod = {.max = static_cast<float>(i)}}), device);
    EXPECT_EQ(on(kept, device), made);
    EXPECT_EQ(fake->samplers_made, 1001U);
}

TEST_F(SamplerTest, RefuseNumbersThatNoneHas) {
    expect_refused({.anisotropy = 17}, "sampler: anisotropy is 17.000000; expected 1 (none) to 16");
    expect_refused({.anisotropy = std::nanf("")}, "anisotropy is nan");
    expect_refused({.lod = {.min = -1}}, "lod.min is -1.000000");
    expect_refused({.lod = {.min = 3, .max = 2}}, "lod.max is 2.000000; expected lod.min to 1000");
    expect_refused({.lod = {.bias = 17}}, "lod.bias is 17.000000");
    expect_refused({.filter = static_cast<Filter>(9)}, "filter 9 is none of its names");
    expect_refused({.filter = Filter::nearest, .anisotropy = 4}, "anisotropy needs linear filters");
    expect_error(ErrorCode::missing_argument, HasSubstr("the sampler is null"),
                 [] { (void)Sampler().options(); });
    const Device plain = detail::make_device(std::make_shared<test::FakeDevice>());
    EXPECT_THROW((void)Sampler(plain, {}), DeviceError);
    EXPECT_THROW((void)Texture2D<float>::empty(plain, {1, 1}), DeviceError);
}

}  // namespace
