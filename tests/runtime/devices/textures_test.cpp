// Textures and samplers through the generated wrappers: what they take, what compiles, and what comes out.
#include "textures.h"

#include <kf/graph.h>

#include <array>
#include <type_traits>
#include <vector>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Points = Tensor<float2, 1>;

template <class Function, class... Given>
constexpr bool takes_texture = std::is_invocable_v<const Function&, Given...>;

// What is only read isn't given where a function writes.
static_assert(takes_texture<textures::FillFunction, Grid<2>, float3, RWTexture2D<float3>>);
static_assert(!takes_texture<textures::FillFunction, Grid<2>, float3, Texture2D<float3>>);
static_assert(!takes_texture<textures::FillFunction, Grid<2>, float3, RWTexture2D<float4>>);
static_assert(!takes_texture<textures::FillFunction, Grid<2>, float3, RWTexture2DArray<float3>>);
static_assert(!takes_texture<textures::FillFunction, Grid<2>, float3, Tensor<float3, 2>>);
static_assert(!std::is_assignable_v<decltype(textures::Globals::out)&, Texture2D<float3>>);
static_assert(std::is_assignable_v<decltype(textures::Globals::scene_depth)&, RWTexture2D<float>>);
static_assert(takes_texture<textures::ToneFunction, Texture2D<float4>, float>);
static_assert(takes_texture<textures::ToneFunction, RWTexture2D<float4>, float, Out<RWTexture2D<float4>>>);
static_assert(!takes_texture<textures::ToneFunction, Texture2D<float4>, float, Texture2D<float4>>);
static_assert(!takes_texture<textures::ToneFunction, Texture2D<uint4>, float>);
static_assert(takes_texture<textures::SplitFunction, RWTexture2DArray<float3>, Out<RWTexture2DArray<float2>>,
                            RWTexture2DArray<float>>);
static_assert(!takes_texture<textures::SplitFunction, Texture2DArray<float3>, Out<RWTexture2DArray<float2>>,
                             Texture2DArray<float>>,
              "it is changed in place");
static_assert(takes_texture<textures::PlainFunction, RWTexture2D<float4>, Sampler, Points>);
static_assert(!takes_texture<textures::PlainFunction, Sampler2D<float4>, Sampler, Points>);
static_assert(takes_texture<textures::CombinedFunction, Sampler2D<float2>, Points, float>);
static_assert(!takes_texture<textures::CombinedFunction, Texture2D<float2>, Points, float>);

class TexturesTest : public ::testing::TestWithParam<std::string> {
protected:
    /// 0, 1, 2 … in each component, and a tenth, two tenths … more.
    template <class T>
    RWTexture2D<T> counting(std::int64_t height, std::int64_t width, float first = 0) {
        std::vector<typename RWTexture2D<T>::Stored> texels(static_cast<std::size_t>(height * width));
        for (std::size_t i = 0; i < texels.size(); ++i) {
            if constexpr (std::is_same_v<T, float>)
                texels[i] = first + float(i);
            else
                for (std::size_t c = 0; c < sizeof texels[i] / sizeof(float); ++c)
                    texels[i][c] = first + float(i) + float(c) / 8;
        }
        return RWTexture2D<T>::from(device_, {height, width}, texels);
    }

    Device device_ = Device::open(GetParam());
    textures::Module module_{device_};
    const Sampler nearest_{SamplerOptions{.filter = Filter::nearest, .address = AddressMode::repeat}};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TexturesTest);
INSTANTIATE_TEST_SUITE_P(Devices, TexturesTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(TexturesTest, AreWrittenByFunctionsAndKernels) {
    for (const auto& [height, width] : {std::pair{7, 33}, std::pair{1, 257}}) {
        const auto image = RWTexture2D<float3>::empty(device_, {height, width});
        module_.fill(Grid<2>{{height, width}}, float3{1, 0.5F, 0.25F}, image);
        EXPECT_THAT(image.to_vector(), Each(float4{1, 0.5F, 0.25F, 1}));
        // Stores past the end are dropped.
        module_.fill(Grid<2>{{4, 4}, {height - 2, width - 2}}, float3{9, 9, 9}, image);
        std::vector<float4> expected(static_cast<std::size_t>(height * width), {1, 0.5F, 0.25F, 1});
        for (int y = std::max(0, height - 2); y < height; ++y)
            for (int x = width - 2; x < width; ++x)
                if (height > 1)
                    expected[static_cast<std::size_t>(y) * std::size_t(width) + std::size_t(x)] = {9, 9, 9,
                                                                                                   1};
        if (height > 1) {
            EXPECT_EQ(image.to_vector(), expected);
        }
        textures::Globals globals;
        globals.color = float3{3, 2, 1};
        globals.out = image;
        const auto width_of = static_cast<std::uint32_t>(width);
        module_.paint.set(globals).threads(width_of, static_cast<std::uint32_t>(height))();
        EXPECT_THAT(image.to_vector(), Each(float4{3, 2, 1, 1}));
    }
    const auto unset = module_.paint.threads(1).try_call();
    ASSERT_FALSE(unset.ok());
    EXPECT_THAT(unset.error().what(), HasSubstr("out"));
}

TEST_P(TexturesTest, AreFieldsOfStructs) {
    const auto image = counting<float4>(2, 4);
    const Points uv = device_.tensor<float2>({{0.125F, 0.25F}, {0.875F, 0.75F}, {1.125F, 1.25F}});
    const auto shaded = module_.shade(textures::MaterialFields{image, nearest_, 2.F}, uv);
    EXPECT_THAT(shaded.to_vector(),
                ElementsAre(float4{0, 0.25F, 0.5F, 0.75F}, float4{14, 14.25F, 14.5F, 14.75F},
                            float4{0, 0.25F, 0.5F, 0.75F}));
    EXPECT_EQ(module_.plain(image, nearest_, uv).to_vector()[1], (float4{7, 7.125F, 7.25F, 7.375F}));
    const auto missing = module_.shade.try_call({Texture2D<float4>(), nearest_, 2.F}, uv);
    ASSERT_FALSE(missing.ok());
    EXPECT_THAT(missing.error().what(), HasSubstr("albedo"));
    EXPECT_THAT(module_.plain.try_call(image, Sampler(), uv).error().what(), HasSubstr("'s'"));
}

TEST_P(TexturesTest, ComeWithSamplers) {
    const auto image = RWTexture2D<float2>::empty(device_, {2, 4}, {.mips = 2});
    image.copy_from(std::vector<float2>(8, {1, 2}));
    image.mip(1).copy_from(std::vector<float2>{{3, 4}, {5, 6}});
    const Points uv = device_.tensor<float2>({{0.25F, 0.5F}, {0.75F, 0.5F}});
    EXPECT_THAT(module_.combined(image.with_sampler(nearest_), uv, 1.F).to_vector(),
                ElementsAre(float2{3, 4}, float2{5, 6}));
    EXPECT_THAT(module_.combined(image.mip(0).with_sampler(nearest_), uv, 1.F).to_vector(),
                Each(float2{1, 2}));
    const auto cube = TextureCube<float>::from(device_, {1, 1}, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto directions =
        device_.tensor<float3>({{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}});
    EXPECT_THAT(module_.around(cube, nearest_, directions).to_vector(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(TexturesTest, AreElementsOfArrays) {
    const auto a = counting<float4>(2, 2);
    const auto b = counting<float4>(1, 3, 100);
    const auto which = device_.tensor<std::int32_t>({2, 0, 1, 2});
    const auto at = device_.tensor<int2>({{1, 1}, {1, 0}, {2, 0}, {0, 1}});
    EXPECT_THAT(module_.pick({a, b, a}, which, at).to_vector(),
                ElementsAre(float4{3, 3.125F, 3.25F, 3.375F}, float4{1, 1.125F, 1.25F, 1.375F},
                            float4{102, 102.125F, 102.25F, 102.375F}, float4{2, 2.125F, 2.25F, 2.375F}));
    const Sampler clamped({.filter = Filter::nearest, .address = AddressMode::clamp});
    const std::array maps{counting<float>(1, 2), counting<float>(1, 2, 10)};
    const Points uv = device_.tensor<float2>({{1.25F, 0.5F}, {1.25F, 0.5F}, {1.25F, 0.5F}});
    const auto both = device_.tensor<int2>({{0, 0}, {0, 1}, {1, 1}});
    EXPECT_THAT(
        module_.sampled(textures::SetFields{maps, std::array{nearest_, clamped}, 2.F}, uv, both).to_vector(),
        ElementsAre(0, 2, 22));
    const std::array<RWTexture2D<float3>, 2> layers{
        RWTexture2D<float3>::empty(device_, {1, 2}, {.format = TextureFormat::rgba16f}),
        RWTexture2D<float3>::empty(device_, {1, 2}, {.format = TextureFormat::rgba16f})};
    for (const auto& layer : layers) layer.copy_from(std::vector<half4>(2));
    module_.store(layers, device_.tensor<std::int32_t>({1, 0}), device_.tensor<int2>({{1, 0}, {0, 0}}),
                  device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}}));
    const half4 zero{};
    EXPECT_THAT(layers[0].to_vector<half4>(),
                ElementsAre(half4{half(4.F), half(5.F), half(6.F), half(1.F)}, zero));
    EXPECT_THAT(layers[1].to_vector<half4>(),
                ElementsAre(zero, half4{half(1.F), half(2.F), half(3.F), half(1.F)}));
}

TEST_P(TexturesTest, AreGlobals) {
    textures::Globals globals;
    globals.target = RWTexture2D<float4>::empty(device_, {2, 2}, {.format = TextureFormat::rgba8});
    globals.sources_0 = Texture2D<float4>::from(device_, {2, 2}, std::vector<float4>(4, {0.2F, 0.4F, 0, 1}));
    globals.sources_1 = Texture2D<float4>::from(device_, {2, 2}, std::vector<float4>(4, {0.4F, 0, 0.2F, 0}));
    globals.scene_depth = counting<float>(2, 2);
    globals.scene_flow = RWTexture2D<float2>::empty(device_, {2, 2}, {.format = TextureFormat::rg16f});
    globals.scene_scale = 0.5F;
    const auto draw = module_.draw.set(globals);
    draw(Grid<2>{{2, 2}});
    const uint8_t4 even{26, 51, 0, 128};  // 25.5 rounds to 26 or 25
    const auto found = globals.target.to_vector<uint8_t4>();
    for (std::size_t i = 0; i < 4; ++i) {
        const uint8_t4 expected = i % 2 == 0 ? even : uint8_t4{51, 0, 26, 0};
        for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(found[i][c], expected[c], 1) << i;
    }
    EXPECT_EQ(globals.scene_flow.to_vector<half2>()[3], (half2{half(3.F), half(-3.F)}));
    // A hook sets others; and a call that is prepared keeps what it was given.
    const auto other = RWTexture2D<float4>::empty(device_, {2, 2}, {.format = TextureFormat::rgba8});
    other.copy_from(std::vector<uint8_t4>(4, {7, 7, 7, 7}));
    draw.hook([&](auto& context) {
        textures::Globals more;
        more.target = other;
        context.set(more);
    })(Grid<2>{{2, 2}});
    EXPECT_EQ(other.to_vector<uint8_t4>(), found);
    globals.scene_flow.copy_from(std::vector<half2>(4));
    const auto prepared = draw.prepare(Grid<2>{{2, 2}});
    prepared();
    EXPECT_EQ(globals.scene_flow.to_vector<half2>()[3], (half2{half(3.F), half(-3.F)}));
    const auto flow = RWTexture2D<float2>::empty(device_, {2, 2}, {.format = TextureFormat::rg16f});
    globals.scene_flow.copy_from(std::vector<half2>(4));
    prepared.set("scene.flow", flow);
    prepared();
    EXPECT_EQ(flow.to_vector<half2>()[3], (half2{half(3.F), half(-3.F)}));
    EXPECT_THAT(globals.scene_flow.to_vector<half2>(), Each(half2{}));
    globals.target = RWTexture2D<float4>::empty(device_, {2, 2});
    const auto wrong = module_.draw.set(globals).try_call(Grid<2>{{2, 2}});
    ASSERT_FALSE(wrong.ok());
    EXPECT_THAT(wrong.error().what(), HasSubstr("rgba8"));
}

TEST_P(TexturesTest, FeedCallsTexelByTexel) {
    const auto image = counting<float4>(7, 33);
    const RWTexture2D<float4> half = module_.tone(image, 1.F / 512);
    EXPECT_EQ(half.format(), TextureFormat::rgba8);
    EXPECT_EQ(half.shape(), (Shape<2>{7, 33}));
    const auto texels = half.to_vector<uint8_t4>();
    for (std::size_t i = 0; i < texels.size(); ++i)
        for (std::size_t c = 0; c < 4; ++c)
            EXPECT_NEAR(texels[i][c], (double(i) + double(c) / 8) / 512 * 255, 0.6) << i;  // as GPUs round
    const auto into = RWTexture2D<float4>::empty(device_, {7, 33}, {.format = TextureFormat::rgba8});
    Encoder encoder = device_.encoder();
    module_.tone.append_to(encoder, image, 1.F / 512, out(into));
    encoder.submit();
    EXPECT_EQ(into.to_vector<uint8_t4>(), texels);
    // A row for all rows, and a gain for each column.
    const auto row =
        RWTexture2D<float4>::from(device_, {1, 33}, std::vector<float4>(33, {0.2F, 0.4F, 0.6F, 1}));
    const Tensor<float, 2> column = device_.tensor<float>({{0}, {0.5F}, {1}});
    const auto wide = module_.tone(row, column);
    EXPECT_EQ(wide.shape(), (Shape<2>{3, 33}));
    EXPECT_THAT(wide.to_vector<uint8_t4>()[0], (uint8_t4{0, 0, 0, 0}));
    EXPECT_THAT(wide.to_vector<uint8_t4>()[98], (uint8_t4{51, 102, 153, 255}));
}

TEST_P(TexturesTest, AreSetInPreparedCallsAndGraphs) {
    const auto make = [&] {
        return RWTexture2D<float4>::empty(device_, {3, 5}, {.format = TextureFormat::rgba8});
    };
    const auto from = [&](std::uint8_t value) {
        const auto made = make();
        made.copy_from(std::vector<uint8_t4>(15, {value, value, value, 255}));
        return made;
    };
    const auto all = [](std::uint8_t value) { return Each(uint8_t4{value, value, value, 255}); };
    // From one to the next, and on: each run waits for the one before.
    const std::array textures{from(10), make(), make(), make()};
    const auto prepared = module_.tone.prepare(textures[0], 2.F, out(textures[1]));
    prepared();
    for (std::size_t i = 1; i < 3; ++i) {
        prepared.set("result", textures[i + 1]);
        prepared.set("x", textures[i]);
        prepared();
    }
    for (const std::size_t i : {0U, 1U, 2U, 3U})
        EXPECT_THAT(textures[i].to_vector<uint8_t4>(), all(std::uint8_t(10U << i)));
    EXPECT_THAT(prepared.try_set("x", textures[3]).error().what(), HasSubstr("texels of it"));
    EXPECT_THAT(prepared.try_set("x", RWTexture2D<float4>::empty(device_, {5, 3})).error().what(),
                HasSubstr("prepare another"));

    // A graph's calls wait for each other by the textures that they have now.
    Graph graph(device_);
    module_.tone.append_to(graph.encoder(), textures[0], 1.F, out(textures[1]));
    const PreparedCall head = graph.node();
    module_.tone.append_to(graph.encoder(), textures[3], 1.F, out(textures[2]));
    const PreparedCall tail = graph.node();
    graph.replay();
    EXPECT_THAT(textures[2].to_vector<uint8_t4>(), all(80));
    tail.set("x", textures[1]);
    tail.set("gain", 3.F);
    for (const auto value : std::array<std::uint8_t, 2>{10, 20}) {
        textures[0].copy_from(std::vector<uint8_t4>(15, {value, value, value, 255}));
        graph.replay();
        EXPECT_THAT(textures[2].to_vector<uint8_t4>(), all(std::uint8_t(3 * value)));
    }
    head.set("result", textures[3]);
    tail.set("x", textures[3]);
    graph.replay();
    EXPECT_THAT(textures[2].to_vector<uint8_t4>(), all(60));
}

TEST_P(TexturesTest, RefuseWhatDoesNotFit) {
    const auto image = counting<float4>(3, 5);
    const auto other = RWTexture2D<float4>::empty(device_, {3, 4}, {.format = TextureFormat::rgba8});
    other.copy_from(std::vector<uint8_t4>(12, {7, 7, 7, 7}));
    const auto refused = [&](const Result<void>& result, const char* what) {
        ASSERT_FALSE(result.ok());
        EXPECT_THAT(result.error().what(), HasSubstr(what));
        EXPECT_THAT(other.to_vector<uint8_t4>(), Each(uint8_t4{7, 7, 7, 7}));
    };
    refused(module_.tone.try_call(image, 1.F, out(other)), "result");
    refused(module_.tone.try_call(image, 1.F, out(RWTexture2D<float4>::empty(device_, {3, 5}))), "rgba8");
    refused(module_.tone.try_call(other, 1.F, out(other)), "result");
    refused(
        module_.fill.try_call(Grid<2>{{1, 1}}, float3{},
                              RWTexture2D<float3>::empty(device_, {3, 5}, {.format = TextureFormat::rgba8})),
        "rgba32f");
}

TEST_P(TexturesTest, AreLayersOfArrays) {
    std::vector<float4> texels(30);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = {float(i), float(i) + 0.5F, 2, 9};
    const auto x = Texture2DArray<float3>::from(device_, {3, 5}, texels, {.layers = 2});
    const auto y =
        RWTexture2DArray<float2>::empty(device_, {3, 5}, {.format = TextureFormat::rg16f, .layers = 2});
    const auto z = RWTexture2DArray<float>::from(device_, {3, 5}, std::vector<float>(30, 1), {.layers = 2});
    module_.split(x, out(y), z);
    EXPECT_EQ(y.to_vector<half2>()[29], (half2{half(29.F), half(29.5F)}));
    EXPECT_THAT(z.to_vector(), Each(3.F));
    const RWTexture2DArray<float2> made = module_.split(x, z);
    EXPECT_EQ(made.to_vector<half2>(), y.to_vector<half2>());
    EXPECT_THAT(z.to_vector(), Each(5.F));
    EXPECT_EQ(made.layers(), 2);
}

TEST_P(TexturesTest, AreFacesOfCubes) {
    std::vector<float4> texels(54);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = {float(i), float(i) + 0.5F, 2, 9};
    const auto x = TextureCube<float3>::from(device_, {3, 3}, texels);
    const auto z = RWTextureCube<float>::from(device_, {3, 3}, std::vector<float>(54, 1));
    const RWTextureCube<float2> y = module_.split_faces(x, z);
    EXPECT_EQ(y.to_vector<half2>()[53], (half2{half(53.F), half(53.5F)}));
    EXPECT_THAT(z.to_vector(), Each(3.F));
    module_.split_faces(x, out(y), z);
    EXPECT_THAT(z.to_vector(), Each(5.F));
    const auto all = RWTextureCubeArray<float4>::empty(device_, {3, 3}, {.layers = 12});
    all.layers(6, 6).copy_from(std::vector<float4>(54, {0, 1, 0, 1}));
    all.layers(0, 6).copy_from(std::vector<float4>(54, {1, 0, 0, 1}));
    const RWTexture2DArray<float4> toned =
        module_.tone_faces(all, device_.tensor<float>({1}).reshape({1, 1, 1}));
    EXPECT_EQ(toned.layers(), 12);
    EXPECT_EQ(toned.to_vector<uint8_t4>()[53], (uint8_t4{255, 0, 0, 255}));
    EXPECT_EQ(toned.to_vector<uint8_t4>()[54], (uint8_t4{0, 255, 0, 255}));
}

TEST_P(TexturesTest, AreOfThreeDimensions) {
    std::vector<int4> texels(30);
    for (int i = 0; i < 30; ++i) texels[std::size_t(i)] = {i, i + 1, i + 2, 0};
    const auto x = Texture3D<int3>::from(device_, {2, 3, 5}, texels);
    const Tensor<int3, 3> flipped = module_.flipped(x);
    EXPECT_EQ(flipped.shape(), (Shape<3>{2, 3, 5}));
    EXPECT_EQ(flipped.to_vector()[29], (int3{31, 30, 29}));
}

TEST_P(TexturesTest, AreReadByDerivatives) {
    const auto albedo =
        Texture2D<float4>::from(device_, {1, 2}, std::vector<float4>{{1, 2, 3, 9}, {4, 5, 6, 9}});
    const auto light = device_.tensor<float>({{2, 3}}).with_grads();
    const auto lit = module_.lit(albedo, light);
    EXPECT_THAT(lit.to_vector(), ElementsAre(12, 45));
    module_.lit.backward(albedo, light, lit);
    EXPECT_THAT(light.grad().to_vector(), ElementsAre(6, 15));
}

}  // namespace
}  // namespace kf::test
