// Generated functions with textures, on a driver in host memory: arguments, outputs, fields, arrays, globals.
#include <kf/configured.h>
#include <kf/kf.h>
#include <kf/overload.h>

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/texture_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_images.h"

namespace made {

// As a generated header has it.
struct Surface {
    kf::Texture2D<kf::float4> albedo;
    kf::Sampler sampler;
};
inline auto kf_parts(Surface& value) { return std::tie(value.albedo, value.sampler); }

struct Globals {
    kf::RWTexture2D<kf::float4> g_output;
    kf::Sampler2D<kf::float4> g_sky;
};
inline void put_values(const Globals& values, kf::detail::GlobalValues& all) {
    all.set("g_output", values.g_output);
    all.set("g_sky", values.g_sky);
}

using Pair = std::array<kf::Texture2D<kf::float4>, 2>;
using Shading = kf::Overload<0, kf::RWTexture2D<kf::float4>(const Surface&, const Pair&,
                                                            const kf::Texture2D<kf::float4>&)>;
using ShadingInto = kf::Overload<0, void(const Surface&, const Pair&, const kf::Texture2D<kf::float4>&,
                                         const kf::Out<kf::RWTexture2D<kf::float4>>&)>;
class Shade : public kf::Overloads<kf::PassKind::forward, Shading, ShadingInto>,
              public kf::WithGlobals<Shade, Globals> {
    using Overloads::Overloads;
};

}  // namespace made

namespace {

using namespace kf;
using namespace kf::test;
using testing::HasSubstr;

class TextureWrapperTest : public testing::Test {
protected:
    void SetUp() override {
        ManifestBuilder builder;
        Argument result = texels("result", "rgba32f");
        result.role = Role::result;
        builder.add(
            "shade",
            {texture("albedo"), sampler("sampler"), texture("one"), texture("two"), texels("pixel"), result},
            false);
        Argument sky = texture("globals.g_sky");
        std::get<kinds::Texture>(sky.kind).is_combined = true;
        builder.add("render", {texels("pixel"), texture("globals.g_output", "rgba32f"), sky}, false);
        module = Module::load(device, artifact::write(builder.get()));
    }
    RWTexture2D<float4> image() { return RWTexture2D<float4>::empty(device, {3, 5}); }
    const driver::ImageBinding& bound(std::size_t i) {
        return std::get<driver::ImageBinding>(fake->last_dispatch().resources.at(i));
    }

    std::shared_ptr<FakeImages> fake = std::make_shared<FakeImages>();
    Device device = detail::make_device(fake);
    Module module;
    made::Surface surface{image(), Sampler(SamplerOptions{})};
    made::Pair pair{image(), image()};
};

static_assert(std::is_invocable_v<made::Shade, made::Surface, made::Pair, RWTexture2D<float4>>);
static_assert(
    std::is_invocable_v<made::Shade, made::Surface, made::Pair, Texture2D<float4>, Out<RWTexture2D<float4>>>);
static_assert(
    !std::is_invocable_v<made::Shade, made::Surface, made::Pair, Texture2D<float4>, Texture2D<float4>>);
static_assert(!std::is_invocable_v<made::Shade, made::Surface, made::Pair, Texture2D<uint4>>);

TEST_F(TextureWrapperTest, TakesFieldsArraysAndPixels) {
    const made::Shade shade(module.function("shade"));
    const auto pixel = image();
    const auto into = image();
    shade(surface, pair, pixel, out(into));
    ASSERT_EQ(fake->last_dispatch().resources.size(), 6U);
    EXPECT_EQ(bound(0).image, surface.albedo.any().state()->image);
    EXPECT_NE(std::get<driver::SamplerBinding>(fake->last_dispatch().resources[1]).sampler, nullptr);
    EXPECT_EQ(bound(2).image, pair[0].any().state()->image);
    EXPECT_EQ(bound(3).image, pair[1].any().state()->image);
    EXPECT_EQ(bound(4).image, pixel.any().state()->image);
    EXPECT_EQ(bound(5).image, into.any().state()->image);
    EXPECT_FALSE(shade.try_call({{}, surface.sampler}, pair, pixel, out(into)).ok());
    expect_error(ErrorCode::shape_mismatch, HasSubstr("result"), [&] {
        shade(surface, pair, pixel, out(RWTexture2D<float4>::empty(device, {3, 4})));
    });
}

TEST_F(TextureWrapperTest, ReturnsTexturesThatTheCallHasMade) {
    const made::Shade shade(module.function("shade"));
    const RWTexture2D<float4> result = shade(surface, pair, image());
    EXPECT_EQ(result.shape(), (Shape<2>{3, 5}));
    EXPECT_EQ(bound(5).image, result.any().state()->image);
    Encoder encoder = device.encoder();
    const RWTexture2D<float4> recorded = shade.append_to(encoder, surface, pair, image());
    encoder.submit();
    EXPECT_EQ(recorded.format(), TextureFormat::rgba32f);
}

using Rendering = Overload<0, void(const Texture2D<float4>&), Items<0, item::none, item::none>>;
struct Render : Overloads<PassKind::forward, Rendering>, WithGlobals<Render, made::Globals> {
    using Overloads::Overloads;
};

TEST_F(TextureWrapperTest, SetsGlobals) {
    const Render render(module.function("render"));
    made::Globals values;
    values.g_output = image();
    values.g_sky = pair[0].with_sampler(surface.sampler);
    render.set(values)(image());
    EXPECT_EQ(bound(1).image, values.g_output.any().state()->image);
    EXPECT_EQ(bound(2).image, pair[0].any().state()->image);
    EXPECT_NE(bound(2).sampler, nullptr);
    expect_error(ErrorCode::missing_argument, HasSubstr("g_output"), [&] { render(image()); });
    values.g_output = {};
    expect_error(ErrorCode::missing_argument, HasSubstr("g_output"), [&] { render.set(values)(image()); });
}

}  // namespace
