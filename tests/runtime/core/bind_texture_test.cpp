// Calls with textures and samplers, on a driver in host memory: what is bound, and what is refused.
#include <kf/graph.h>
#include <kf/invoke.h>
#include <kf/kf.h>
#include <kf/overload.h>

#include <gtest/gtest.h>

#include <optional>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/fast_launch.h"
#include "core/sampler_state.h"
#include "core/texture_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_images.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using detail::LaunchRequest;
using detail::PassKind;
using testing::ElementsAre;
using testing::HasSubstr;

Argument sampled(std::string name) {
    Argument argument = texture(std::move(name));
    std::get<kinds::Texture>(argument.kind).is_combined = true;
    return argument;
}

Argument layered(Argument argument) {
    std::get<kinds::Texture>(argument.kind).is_array = true;
    if (std::get<kinds::Texture>(argument.kind).per_pixel) argument.rank = argument.call_rank = 3;
    return argument;
}

Argument written(std::string format) {
    Argument argument = texels("result", std::move(format));
    argument.role = Role::result;
    return argument;
}

class BindTextureTest : public testing::Test {
protected:
    /// The module's function f, of a call with these arguments.
    detail::FunctionRef function(std::vector<Argument> arguments, bool strict = false,
                                 bool backward = false) {
        ManifestBuilder builder;
        builder.add("f", std::move(arguments), backward);
        builder.get().functions[0].calls[0].strict_broadcasting = strict;
        module = Module::load(device, artifact::write(builder.get()));
        return module.function("f");
    }
    AnyTexture make(Dims extents, TextureFormat format = TextureFormat::rgba32f, std::int64_t mips = 1,
                    std::int64_t layers = 0) {
        TextureShape shape;
        shape.dimensions = static_cast<int>(extents.size());
        shape.extents = extents;
        shape.format = format;
        shape.mips = mips;
        shape.is_array = layers != 0;
        shape.layers = std::max<std::int64_t>(1, layers);
        shape.writable = true;
        return AnyTexture::empty(device, shape);
    }
    static AnyTexture read_only(const Device& on, Dims extents) {
        TextureShape shape;
        shape.extents = extents;
        return AnyTexture::empty(on, shape);
    }

    const driver::ImageBinding& image(std::size_t i) {
        return std::get<driver::ImageBinding>(fake->last_dispatch().resources.at(i));
    }
    /// Runs the call both ways: it has to be one that is launched fast, and the same in both. Returns the
    /// numbers of calls and of argument `argument`'s steps along them.
    std::vector<std::int64_t> steps(const detail::FunctionRef& f, std::vector<Arg> args,
                                    std::int64_t argument, std::size_t rank) {
        const LaunchRequest request{f, 0, PassKind::forward, args};
        detail::launch_in_general(request);
        const std::vector<std::byte> general = fake->last_dispatch().block;
        EXPECT_TRUE(detail::launch_fast(request));
        const Command& told = fake->last_dispatch();
        EXPECT_EQ(told.block, general);
        std::vector<std::int64_t> found{told.field<std::int64_t>(RecordKind::launch, -1, "total")};
        for (std::size_t d = 0; d < rank; ++d)
            found.push_back(told.field<std::int64_t>(RecordKind::strides, argument, "strides", d));
        return found;
    }
    /// Expects an error of a call, whichever way it is made.
    void refuse(ErrorCode code, const char* what, const detail::FunctionRef& f, std::vector<Arg> args) {
        const std::size_t before = fake->count("dispatch");
        for (int i = 0; i < 2; ++i)
            expect_error(code, HasSubstr(what), [&] { invoke(f, 0, PassKind::forward, args); });
        EXPECT_EQ(fake->count("dispatch"), before);
    }

    std::shared_ptr<FakeImages> fake = std::make_shared<FakeImages>();
    Device device = detail::make_device(fake);
    Module module;
    Tensor<float, 1> x = device.tensor<float>({1, 2, 3});
    Tensor<float, 1> y = device.zeros<float>({3});
    Sampler linear = Sampler(SamplerOptions{});
    Sampler shadow = Sampler(SamplerOptions{.compare = Compare::less});
};

TEST_F(BindTextureTest, BindsTexturesAndSamplers) {
    const auto f = function({texture("a"), texture("b", "rgba8"), sampler("s"), sampled("c"),
                             sampler("shadow", true), tensor("x", 1), as(Role::result, tensor("result", 1))});
    const AnyTexture a = make({7, 33}, TextureFormat::rgba16f, 3).mips(1, 2);
    const AnyTexture b = make({4, 4}, TextureFormat::rgba8, 3);
    const AnyTexture c = make({2, 2}, TextureFormat::rgba8).with_sampler(linear);
    std::vector<Arg> args{Arg::of(a),      Arg::of(b), Arg::of(linear), Arg::of(c),
                          Arg::of(shadow), Arg::in(x), Arg::in(y)};
    const auto check = [&] {
        ASSERT_EQ(fake->last_dispatch().resources.size(), 5U);
        EXPECT_EQ(image(0).image, a.state()->image);
        EXPECT_EQ(image(0).range, a.state()->range);
        EXPECT_EQ(image(0).sampler, nullptr);
        EXPECT_EQ(image(1).image, b.state()->image);
        EXPECT_EQ(image(1).range.mips, 1U) << "what is written is one mip";
        EXPECT_EQ(image(3).image, c.state()->image);
        const auto& s = std::get<driver::SamplerBinding>(fake->last_dispatch().resources[2]);
        EXPECT_EQ(image(3).sampler, s.sampler);
        EXPECT_EQ(s.sampler, detail::sampler_on(linear, *device.state()));
        EXPECT_NE(std::get<driver::SamplerBinding>(fake->last_dispatch().resources[4]).sampler, s.sampler);
        EXPECT_EQ(fake->last_dispatch().uses.size(), 2U);
    };
    detail::launch_in_general({f, 0, PassKind::forward, args});
    check();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(detail::launch_fast({f, 0, PassKind::forward, args}));
        check();
    }
    Encoder encoder = device.encoder();
    invoke(f, 0, PassKind::forward, args, &encoder);
    encoder.submit();
    check();
    const auto record = [&](Encoder& into) { invoke(f, 0, PassKind::forward, args, &into); };
    const PreparedCall prepared = detail::prepare(f, record);
    prepared();
    check();
    Graph graph(device);
    record(graph.encoder());
    graph.replay();
    graph.replay();
    check();
    EXPECT_EQ(fake->samplers_made, 2U);
}

TEST_F(BindTextureTest, PreparedCallsTakeOtherTextures) {
    const auto f = function({texels("a"), texture("b"), sampler("s"), sampled("c"), texture("d", "rgba32f"),
                             as(Role::result, tensor("result", 2))});
    const std::vector<AnyTexture> a{make({3, 4}), make({3, 4}, TextureFormat::rgba8, 2)};
    const AnyTexture b = make({7, 7}, TextureFormat::rgba16f, 3);
    const AnyTexture c = make({2, 2}).with_sampler(linear);
    const AnyTexture d = make({6, 8}, TextureFormat::rgba32f, 2);
    const Tensor<float, 2> result = device.zeros<float>({3, 4});
    std::vector<Arg> args{Arg::of(a[0]), Arg::of(b), Arg::of(linear),
                          Arg::of(c),    Arg::of(d), Arg::in(result)};
    const auto record = [&](Encoder& into) { invoke(f, 0, PassKind::forward, args, &into); };
    const PreparedCall prepared = detail::prepare(f, record);
    prepared.set("a", a[1]);
    const AnyTexture b2 = make({1, 9}, TextureFormat::r8).mip(0);
    prepared.set("b", b2);
    const Sampler nearest(SamplerOptions{.filter = Filter::nearest});
    prepared.set("s", nearest);
    prepared.set("c", b.with_sampler(nearest));
    prepared.set("d", RWTexture2D<float4>(d.mip(1)));
    prepared();
    EXPECT_EQ(image(0).image, a[1].state()->image);
    EXPECT_EQ(image(0).range.mips, 1U);
    EXPECT_EQ(image(1).image, b2.state()->image);
    EXPECT_EQ(std::get<driver::SamplerBinding>(fake->last_dispatch().resources[2]).sampler,
              detail::sampler_on(nearest, *device.state()));
    EXPECT_EQ(image(3).image, b.state()->image);
    EXPECT_EQ(image(3).range.mips, 3U);
    EXPECT_EQ(image(3).sampler, detail::sampler_on(nearest, *device.state()));
    EXPECT_EQ(image(4).range.first_mip, 1U);

    // What is refused changes nothing, and launches nothing.
    const std::size_t before = fake->count("dispatch");
    const auto refused = [&](ErrorCode code, const char* what, const char* name, const auto& value) {
        expect_error(code, HasSubstr(what), [&] { prepared.set(name, value); });
    };
    refused(ErrorCode::aliasing, "argument 'd': the call writes to it, and has texels of it as argument 'a'",
            "a", d.mip(1));
    refused(ErrorCode::aliasing, "as argument 'b'", "b", d.mips(0, 2));
    refused(ErrorCode::shape_mismatch, "prepared for [3, 4]", "a", make({4, 3}));
    refused(ErrorCode::type_mismatch, "rgba32f alone", "d", make({3, 4}, TextureFormat::rgba8));
    refused(ErrorCode::type_mismatch, "which calls only read", "d", read_only(device, {3, 4}));
    refused(ErrorCode::missing_argument, "without a sampler", "c", b);
    refused(ErrorCode::type_mismatch, "found one that compares", "s", shadow);
    refused(ErrorCode::type_mismatch, "found a floating number", "a", 2.F);
    refused(ErrorCode::type_mismatch, "found a sampler", "a", linear);
    refused(ErrorCode::type_mismatch, "found a 2D", "s", b);
    refused(ErrorCode::missing_argument, "a null texture", "a", AnyTexture());
    refused(ErrorCode::missing_argument, "a null sampler", "s", Sampler());
    refused(ErrorCode::rank_mismatch, "layer() gives", "b", make({3, 4}, TextureFormat::r8, 1, 2));
    refused(ErrorCode::type_mismatch, "what can be set: 'a' and 'b' and 's' and 'c' and 'd'", "result", b);
    const Device other = detail::make_device(std::make_shared<FakeImages>());
    refused(ErrorCode::device_mismatch, "the texture is on device", "a", read_only(other, {3, 4}));
    EXPECT_EQ(fake->count("dispatch"), before);
    prepared();
    EXPECT_EQ(image(0).image, a[1].state()->image);
    EXPECT_EQ(image(4).range.first_mip, 1U);

    // A call that was recorded keeps what it had, and one of a graph its own.
    Encoder encoder = device.encoder();
    prepared.append_to(encoder);
    Graph graph(device);
    prepared.append_to(graph.encoder());
    prepared.set("a", a[0]);
    encoder.submit();
    EXPECT_EQ(image(0).image, a[1].state()->image);
    graph.replay();
    EXPECT_EQ(image(0).image, a[1].state()->image);
    graph.set("a", a[0]);
    graph.replay();
    EXPECT_EQ(image(0).image, a[0].state()->image);
}

TEST_F(BindTextureTest, PreparedCallsKeepWhatTheyMade) {
    const auto f = function({texels("a"), written("rgba32f")});
    const AnyTexture a = make({3, 4});
    std::vector<Arg> args{Arg::of(a), Arg::none()};
    const auto record = [&](Encoder& into) { invoke(f, 0, PassKind::forward, args, &into); };
    const PreparedCall prepared = detail::prepare(f, record);
    expect_error(ErrorCode::type_mismatch, HasSubstr("what can be set: 'a'"), [&] {
        prepared.set("result", make({3, 4}));
    });
    expect_error(ErrorCode::aliasing, HasSubstr("as argument 'a'"),
                 [&] { prepared.set("a", args[1].allocated_texture); });
}

TEST_F(BindTextureTest, RemembersLaunchesWithBuffers) {
    // Strided ones, and those of buffers, are made from what is known of the last.
    const auto f = function({texture("a"), texture("b", "rgba32f"), buffer("table", Access::read),
                             sampler("s"), tensor("x", 1), as(Role::result, tensor("result", 1))});
    const Buffer<float> table = device.zeros<float>({4});
    const AnyTexture b = make({4, 4});
    for (const std::int64_t extent : {7, 8, 9}) {
        const AnyTexture a = make({extent, extent});
        std::vector<Arg> args{Arg::of(a),      Arg::of(b), Arg::in(table),
                              Arg::of(linear), Arg::in(x), Arg::in(y)};
        EXPECT_FALSE(detail::launch_fast({f, 0, PassKind::forward, args}));
        for (int i = 0; i < 3; ++i) {
            invoke(f, 0, PassKind::forward, args);
            ASSERT_EQ(fake->last_dispatch().resources.size(), 4U);
            EXPECT_EQ(image(0).image, a.state()->image);
            EXPECT_EQ(image(1).image, b.state()->image);
            EXPECT_EQ(std::get<driver::BufferRange>(fake->last_dispatch().resources[2]).size, 16U);
        }
    }
    std::vector<Arg> same{Arg::of(b), Arg::of(b), Arg::in(table), Arg::of(linear), Arg::in(x), Arg::in(y)};
    refuse(ErrorCode::aliasing, "argument 'b': the call writes to it", f, same);
}

TEST_F(BindTextureTest, RefusesWhatDoesNotFit) {
    const auto f = function({texture("a"), texture("b", "rgba8"), sampler("s"), sampled("c"),
                             sampler("shadow", true), tensor("x", 1), as(Role::result, tensor("result", 1))});
    const AnyTexture a = make({3, 4});
    const AnyTexture b = make({3, 4}, TextureFormat::rgba8);
    const AnyTexture c = a.with_sampler(linear);
    const std::vector<Arg> good{Arg::of(a),      Arg::of(b), Arg::of(linear), Arg::of(c),
                                Arg::of(shadow), Arg::in(x), Arg::in(y)};
    const auto with = [&](std::size_t i, const Arg& arg) {
        std::vector<Arg> args = good;
        args[i] = arg;
        return args;
    };
    std::vector<Arg> fits = good;
    invoke(f, 0, PassKind::forward, fits);
    refuse(ErrorCode::missing_argument, "f: argument 'a': expected float4 texture2d, found nothing", f,
           with(0, Arg::none()));
    refuse(ErrorCode::type_mismatch,
           "argument 'a': expected float4 texture2d, found a float tensor of shape [3]", f,
           with(0, Arg::in(x)));
    refuse(ErrorCode::type_mismatch, "argument 'x': expected float tensor[1], found a texture", f,
           with(5, Arg::of(a)));
    refuse(ErrorCode::type_mismatch, "argument 's': expected sampler, found a texture", f,
           with(2, Arg::of(a)));
    const AnyTexture volume = make({2, 3, 4});
    refuse(ErrorCode::rank_mismatch,
           "argument 'a': expected float4 texture2d, found a 3D rgba32f texture of shape [2, 3, 4]", f,
           with(0, Arg::of(volume)));
    const AnyTexture layers = make({3, 4}, TextureFormat::rgba32f, 1, 2);
    refuse(ErrorCode::rank_mismatch,
           "found a 2D array rgba32f texture of shape [3, 4], 2 layers: layer() gives one of its layers", f,
           with(0, Arg::of(layers)));
    const AnyTexture integers = make({3, 4}, TextureFormat::rgba8ui);
    refuse(ErrorCode::type_mismatch,
           "expected float4 texture2d, found a 2D rgba8ui texture of shape [3, 4], whose texels are read as "
           "uints",
           f, with(0, Arg::of(integers)));
    refuse(ErrorCode::type_mismatch,
           "argument 'b': expected float4 rwtexture2d of rgba8, found a 2D rgba32f texture of shape [3, 4]: "
           "kernels "
           "write texels of rgba8 alone; make it so, or say its format in the call spec (\"format\": "
           "\"rgba32f\")",
           f, with(1, Arg::of(a)));
    TextureShape shape = b.shape();
    shape.writable = false;
    const AnyTexture fixed = AnyTexture::empty(device, shape);
    refuse(ErrorCode::type_mismatch,
           "argument 'b': expected float4 rwtexture2d of rgba8, found a 2D rgba8 texture of "
           "shape [3, 4], which calls only read: make it with writable=True",
           f, with(1, Arg::of(fixed)));
    refuse(ErrorCode::missing_argument,
           "argument 'c': expected float4 texture2d with a sampler, found a 2D rgba32f texture of shape [3, "
           "4] without "
           "a sampler: give it as texture.with_sampler(sampler)",
           f, with(3, Arg::of(a)));
    const AnyTexture compared = a.with_sampler(shadow);
    refuse(ErrorCode::type_mismatch, "with a sampler that compares", f, with(3, Arg::of(compared)));
    refuse(ErrorCode::type_mismatch, "argument 's': expected a sampler, found one that compares", f,
           with(2, Arg::of(shadow)));
    refuse(ErrorCode::type_mismatch,
           "argument 'shadow': expected a comparison sampler, found one that doesn't", f,
           with(4, Arg::of(linear)));
    const Device elsewhere = detail::make_device(std::make_shared<FakeImages>());
    const AnyTexture there = read_only(elsewhere, {3, 4});
    refuse(ErrorCode::device_mismatch, "argument 'a': the texture is on device", f, with(0, Arg::of(there)));
}

TEST_F(BindTextureTest, TellsMipsAndLayersApart) {
    const auto f = function(
        {texture("a"), texture("b", "rgba32f"), tensor("x", 1), as(Role::result, tensor("result", 1))});
    const AnyTexture all = make({8, 8}, TextureFormat::rgba32f, 3, 4);
    const auto args = [&](const AnyTexture& one, const AnyTexture& two) {
        return std::vector<Arg>{Arg::of(one), Arg::of(two), Arg::in(x), Arg::in(y)};
    };
    const AnyTexture first = all.layer(0);
    const AnyTexture second = all.layer(1);
    const AnyTexture mip = first.mip(1);
    const AnyTexture rest = first.mips(1, 2);
    for (const auto& [one, two] : {std::pair(second, first), std::pair(mip, first), std::pair(rest, first)}) {
        std::vector<Arg> given = args(one, two);
        invoke(f, 0, PassKind::forward, given);
        EXPECT_EQ(image(0).range, one.state()->range);
    }
    const char* shared = "argument 'b': the call writes to it, and has texels of it as argument 'a', too";
    refuse(ErrorCode::aliasing, shared, f, args(first, first));
    refuse(ErrorCode::aliasing, shared, f, args(first, mip));
    refuse(ErrorCode::aliasing, shared, f, args(rest, mip));
    const auto both = function({texture("a", "rgba32f"), texture("b", "rgba32f"), tensor("x", 1)});
    refuse(ErrorCode::aliasing, "argument 'a': the call writes to it", both,
           {Arg::of(first), Arg::of(first), Arg::in(x)});
    const auto none = function({texture("a"), texture("b"), tensor("x", 1)});
    std::vector<Arg> read{Arg::of(first), Arg::of(first), Arg::in(x)};
    EXPECT_TRUE(detail::launch_fast({none, 0, PassKind::forward, read}));
}

TEST_F(BindTextureTest, FeedsCallsTexelByTexel) {
    const auto f = function({texels("a"), texels("b", "rgba32f"), tensor("x", 2)});
    const AnyTexture b = make({5, 3});
    const auto all = device.zeros<float>({5, 3});
    const AnyTexture full = make({5, 3}, TextureFormat::rgba8);
    const AnyTexture row = make({1, 3}, TextureFormat::r8, 2);
    const AnyTexture one = make({1, 1});
    EXPECT_THAT(steps(f, {Arg::of(full), Arg::of(b), Arg::in(all)}, 0, 2), ElementsAre(15, 1, 1));
    EXPECT_THAT(steps(f, {Arg::of(row), Arg::of(b), Arg::in(all)}, 0, 2), ElementsAre(15, 0, 1));
    EXPECT_EQ(image(0).range.mips, 1U);
    EXPECT_THAT(steps(f, {Arg::of(one), Arg::of(b), Arg::in(all)}, 0, 2), ElementsAre(15, 0, 0));
    EXPECT_THAT(steps(f, {Arg::of(one), Arg::of(b), Arg::in(all)}, 1, 2), ElementsAre(15, 1, 1));
    const AnyTexture wide = make({5, 4});
    refuse(
        ErrorCode::shape_mismatch,
        "argument 'x': dimension 1 of shape [5, 3]: extent 3 doesn't broadcast with extent 4 of argument 'a'",
        f, {Arg::of(wide), Arg::of(b), Arg::in(all)});
    const AnyTexture low = make({1, 3});
    refuse(ErrorCode::shape_mismatch,
           "argument 'b': an output is never broadcast: dimension 0 of shape [1, 3]: expected "
           "extent 5 of argument 'a', found 1",
           f, {Arg::of(full), Arg::of(low), Arg::in(all)});
    refuse(ErrorCode::aliasing, "argument 'b': the call writes to it", f,
           {Arg::of(b), Arg::of(b), Arg::in(all)});
    const auto strict = function({texels("a"), texels("b", "rgba32f")}, true);
    EXPECT_THAT(steps(strict, {Arg::of(full), Arg::of(b)}, 0, 2), ElementsAre(15, 1, 1));
    refuse(ErrorCode::shape_mismatch, "argument 'a': broadcasting is forbidden", strict,
           {Arg::of(row), Arg::of(b)});
}

TEST_F(BindTextureTest, FeedsLayersAndFaces) {
    const auto f = function({layered(texels("a")), layered(texels("b", "rgba32f"))});
    const AnyTexture a = make({5, 3}, TextureFormat::rgba8, 1, 1);
    const AnyTexture b = make({5, 3}, TextureFormat::rgba32f, 1, 4);
    EXPECT_THAT(steps(f, {Arg::of(a), Arg::of(b)}, 0, 3), ElementsAre(60, 0, 1, 1));
    Argument cube = texels("a");
    std::get<kinds::Texture>(cube.kind).dimension = kinds::TextureDimension::cube;
    cube.rank = cube.call_rank = 3;
    TextureShape shape;
    shape.is_cube = true;
    shape.extents = {4, 4};
    const AnyTexture faces = AnyTexture::empty(device, shape);
    const auto g = function({cube, as(Role::result, tensor("result", 3))});
    const auto result = device.zeros<float>({6, 4, 4});
    EXPECT_THAT(steps(g, {Arg::of(faces), Arg::in(result)}, 0, 3), ElementsAre(96, 1, 1, 1));
    EXPECT_EQ(image(0).range.dimension, driver::ImageDimension::two) << "kernels have its faces as layers";
    EXPECT_TRUE(image(0).range.is_array);
    EXPECT_EQ(image(0).range.layers, 6U);
    refuse(ErrorCode::rank_mismatch, "expected float4 texturecube", g,
           {Arg::of(faces.layers(0, 6)), Arg::in(result)});
}

TEST_F(BindTextureTest, FollowsMaps) {
    Argument turned = texels("a");
    turned.map = {2, 0};
    const auto f = function({turned, tensor("x", 3), as(Role::result, tensor("result", 3))});
    const AnyTexture a = make({1, 2}, TextureFormat::rgba8);
    const auto in = device.zeros<float>({2, 3, 4});
    const auto out = device.zeros<float>({2, 3, 4});
    EXPECT_THAT(steps(f, {Arg::of(a), Arg::in(in), Arg::in(out)}, 0, 2), ElementsAre(24, 1, 0));
}

TEST_F(BindTextureTest, MakesOutputsThatAreNotGiven) {
    const auto f = function({texels("a"), written("rgba16f")});
    const AnyTexture a = make({5, 3}, TextureFormat::rgba8);
    for (int i = 0; i < 3; ++i) {
        std::vector<Arg> args{Arg::of(a), Arg::none()};
        invoke(f, 0, PassKind::forward, args);
        const AnyTexture& made = args[1].allocated_texture;
        ASSERT_TRUE(made);
        EXPECT_EQ(made.shape().extents, (Dims{5, 3}));
        EXPECT_EQ(made.format(), TextureFormat::rgba16f);
        EXPECT_TRUE(made.writable());
        EXPECT_EQ(image(1).image, made.state()->image);
        EXPECT_EQ(fake->last_dispatch().field<std::int64_t>(RecordKind::strides, 1, "strides", 1), 1);
    }
    const auto empty = function({tensor("x", 2), written("rgba16f")});
    const auto nothing = device.zeros<float>({0, 3});
    refuse(ErrorCode::shape_mismatch, "argument 'result': the call's shape is [0, 3], and no texture is made",
           empty, {Arg::in(nothing), Arg::none()});
}

TEST_F(BindTextureTest, BindsInBackwardPasses) {
    const auto f = function({texels("a"), texture("b"), texels("c", "rgba8"), with_gradient(tensor("x", 2)),
                             as(Role::result, tensor("result", 2))},
                            false, true);
    const AnyTexture a = make({1, 3}, TextureFormat::rgba8);
    const AnyTexture b = make({2, 2});
    const AnyTexture c = make({5, 3}, TextureFormat::rgba8);
    const auto in = device.zeros<float>({5, 3}).with_grads();
    const auto out = device.zeros<float>({5, 3});
    std::vector<Arg> args{Arg::of(a), Arg::of(b), Arg::of(c), Arg::in(in), Arg::in(out)};
    for (int i = 0; i < 2; ++i) {
        invoke(f, 0, PassKind::backward, args);
        ASSERT_EQ(fake->last_dispatch().resources.size(), 3U);
        EXPECT_EQ(image(0).image, a.state()->image);
        EXPECT_EQ(image(2).image, c.state()->image);
        EXPECT_EQ(fake->last_dispatch().field<std::int64_t>(RecordKind::strides, 0, "strides", 0), 0);
        EXPECT_EQ(fake->last_dispatch().field<std::int64_t>(RecordKind::strides, 0, "strides", 1), 1);
    }
    args[2] = Arg::none();
    expect_error(ErrorCode::missing_argument,
                 HasSubstr("argument 'c': expected float4 rwtexture2d of rgba8, found nothing"),
                 [&] { invoke(f, 0, PassKind::backward, args); });
}

TEST_F(BindTextureTest, TakesGeneratorsFast) {
    Argument pixel = value("pixel", ScalarType::int32, {2});
    pixel.kind = kinds::Generator{detail::GeneratorKind::grid};
    pixel.rank = pixel.call_rank = 2;
    const auto f = function({pixel, texture("target", "rgba32f")});
    const AnyTexture target = make({5, 3});
    const Grid<2> grid{.shape = {5, 3}};
    std::vector<Arg> args{Arg::in(grid), Arg::of(target)};
    EXPECT_TRUE(detail::launch_fast({f, 0, PassKind::forward, args}));
    EXPECT_EQ(image(0).image, target.state()->image);
}

TEST_F(BindTextureTest, LaunchesThreads) {
    ManifestBuilder builder;
    builder.add("f", {texture("a"), texture("b", "rgba8"), sampler("s")}, false);
    Call& call = builder.get().functions[0].calls[0];
    call.dispatch = Dispatch::threads;
    call.rank = 3;
    call.forward.strided = -1;
    for (Kernel& kernel : builder.get().kernels)
        set_records(kernel, call, {PassKind::forward, kernel.variant});
    builder.get().kernels.resize(1);
    module = Module::load(device, artifact::write(builder.get()));
    const auto f = module.function("f").with({.launch = Launch::threads(4, 3, 1)});
    const AnyTexture b = make({3, 4}, TextureFormat::rgba8);
    for (int i = 0; i < 3; ++i) {
        const AnyTexture a = make({3, 4 + i});
        std::vector<Arg> args{Arg::of(a), Arg::of(b), Arg::of(linear)};
        invoke(f, 0, PassKind::forward, args);
        EXPECT_EQ(image(0).image, a.state()->image);
        EXPECT_EQ(image(1).image, b.state()->image);
    }
    std::vector<Arg> args{Arg::of(b), Arg::of(b), Arg::of(linear)};
    refuse(ErrorCode::aliasing, "argument 'b': the call writes to it", f, args);
}

TEST_F(BindTextureTest, KeepsTexturesOfGlobals) {
    const auto f =
        function({texture("globals.table"), sampler("globals.s"), sampled("globals.c"), tensor("x", 1)});
    auto values = std::make_shared<detail::GlobalValues>();
    const RWTexture2D<float4> table = RWTexture2D<float4>::empty(device, {4, 4});
    values->set("table", table);
    values->set("s", linear);
    values->set("c", table.with_sampler(linear));
    detail::FunctionRef with = f;
    with.globals = values;
    std::vector<Arg> args{Arg::none(), Arg::none(), Arg::none(), Arg::in(x)};
    invoke(with, 0, PassKind::forward, args);
    EXPECT_EQ(image(0).image, table.any().state()->image);
    EXPECT_EQ(image(0).sampler, nullptr);
    EXPECT_NE(image(2).sampler, nullptr);
    std::vector<Arg> unset{Arg::none(), Arg::none(), Arg::none(), Arg::in(x)};
    expect_error(ErrorCode::missing_argument, HasSubstr("the global 'table', which it reads, isn't set"),
                 [&] { invoke(f, 0, PassKind::forward, unset); });
}

TEST_F(BindTextureTest, TellsSamplersApart) {
    const auto f = function({sampler("s"), tensor("x", 1)});
    std::array<detail::ArgShape, 2> shapes;
    shapes[0].kind = detail::ArgShape::Kind::sampler;
    shapes[1] = {detail::ArgShape::Kind::tensor, ScalarType::float32, {3}};
    shapes[0].sampler = &linear;
    EXPECT_EQ(detail::resolve(f, shapes), 0U);
    shapes[0].sampler = &shadow;
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("argument 's': expected sampler, found a comparison sampler"),
                 [&] { (void)detail::resolve(f, shapes); });
}

TEST_F(BindTextureTest, ChoosesOverloadsByTextures) {
    ManifestBuilder builder;
    Argument volume = texture("a");
    std::get<kinds::Texture>(volume.kind).dimension = kinds::TextureDimension::three;
    volume.rank = volume.inner_rank = 3;
    Argument integers = texture("a");
    std::get<kinds::Texture>(integers.kind).texel = "int";
    integers.element.scalar = ScalarType::int32;
    const Argument last = as(Role::result, tensor("result", 1));
    builder.add("f", {texture("a"), tensor("x", 1), last}, false)
        .add("f", {volume, tensor("x", 1), last}, false)
        .add("f", {integers, tensor("x", 1), last}, false);
    module = Module::load(device, artifact::write(builder.get()));
    const auto chosen = [&](const AnyTexture& given) {
        std::array<detail::ArgShape, 3> shapes;
        shapes[0].kind = detail::ArgShape::Kind::texture;
        shapes[0].texture = &given;
        shapes[1] = {detail::ArgShape::Kind::tensor, ScalarType::float32, {3}};
        return detail::resolve(module.function("f"), shapes);
    };
    EXPECT_EQ(chosen(make({2, 2})), 0U);
    EXPECT_EQ(chosen(make({2, 2, 2})), 1U);
    EXPECT_EQ(chosen(make({2, 2}, TextureFormat::r32i)), 2U);
    expect_error(ErrorCode::no_overload,
                 HasSubstr("argument 'a': expected float4 texture2d, found a 1D r8 texture of "
                           "shape [2]"),
                 [&] { (void)chosen(make({2}, TextureFormat::r8)); });
}

}  // namespace
