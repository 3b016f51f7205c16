// The watch for NaNs and infinities, with a driver in host memory.
#include "core/nan_watch.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <kf/graph.h>
#include <kf/hook.h>
#include <kf/kf.h>
#include <kf/prepared.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/artifact.h"
#include "core/device_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::find_not_finite;
using detail::invoke;
using manifest::RecordKind;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
const std::byte* bytes(const std::vector<T>& values) {
    return std::as_bytes(std::span(values)).data();
}

TEST(FindNotFinite, FindsTheFirstOfEachWidth) {
    const std::vector<half> halves{half(1.F), half(-inf), half(nan)};
    const std::vector<float> floats{1, 3.4e38F, nan, inf};
    const std::vector<double> doubles{1e308, -std::numeric_limits<double>::infinity()};
    auto found = find_not_finite(ScalarType::float16, bytes(halves), {3}, {1}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, Dims{1});
    EXPECT_EQ(found->value, -std::numeric_limits<double>::infinity());
    found = find_not_finite(ScalarType::float32, bytes(floats), {2, 2}, {2, 1}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, (Dims{1, 0}));
    EXPECT_TRUE(std::isnan(found->value));
    found = find_not_finite(ScalarType::float64, bytes(doubles), {2}, {1}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, Dims{1});
    EXPECT_FALSE(find_not_finite(ScalarType::float32, bytes(floats), {2}, {1}, nullptr));
    const std::vector<std::uint32_t> integers{0x7FC00000U};
    EXPECT_FALSE(find_not_finite(ScalarType::uint32, bytes(integers), {1}, {1}, nullptr));
}

TEST(FindNotFinite, WalksViews) {
    const std::vector<float> values{0, 1, nan, 3, 4, inf};
    // Transposed, backwards, broadcast, without elements.
    auto found = find_not_finite(ScalarType::float32, bytes(values), {3, 2}, {1, 3}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, (Dims{2, 0}));
    found = find_not_finite(ScalarType::float32, bytes(values) + 5 * sizeof(float), {6}, {-1}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, Dims{0});
    found = find_not_finite(ScalarType::float32, bytes(values), {1000000000, 3}, {0, 1}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, (Dims{0, 2}));
    EXPECT_FALSE(find_not_finite(ScalarType::float32, bytes(values), {0, 3}, {3, 1}, nullptr));
    found = find_not_finite(ScalarType::float32, bytes(values) + 2 * sizeof(float), {}, {}, nullptr);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->index.empty());
}

TEST(FindNotFinite, LeavesOutWhatWasThereBefore) {
    const std::vector<float> before{nan, 1, 2};
    const std::vector<float> now{nan, 1, inf};
    const auto found = find_not_finite(ScalarType::float32, bytes(now), {3}, {1}, bytes(before));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, Dims{2});
}

class NanWatchTest : public testing::Test {
protected:
    NanWatchTest() { device.set_check(Check::nan); }

    detail::FunctionRef load(const Manifest& manifest) {
        module = Module::load(device, artifact::write(manifest));
        return module.function(manifest.functions.front().name);
    }
    float* floats(std::uint64_t address) { return reinterpret_cast<float*>(fake->at(address)); }

    /// y = 1 / x, and a backward pass that adds -g / x² to x's gradient.
    detail::FunctionRef inverse() {
        fake->on_dispatch = [this](FakeDevice&, const Command& c) {
            const auto total = c.field<std::int64_t>(RecordKind::launch);
            const float* x = floats(c.field<std::uint64_t>(RecordKind::data, 0));
            const bool is_backward = c.kernel.find("backward") != std::string::npos;
            for (std::int64_t i = 0; i < total; ++i) {
                if (is_backward) {
                    const auto flowing = c.field<std::uint64_t>(RecordKind::grad_in, 1);
                    const float g = flowing == 0 ? 1.F : floats(flowing)[i];
                    floats(c.field<std::uint64_t>(RecordKind::grad_out, 0))[i] += -g / (x[i] * x[i]);
                } else {
                    floats(c.field<std::uint64_t>(RecordKind::data, 1))[i] = 1 / x[i];
                }
            }
        };
        ManifestBuilder builder;
        builder.add("inverse", {with_gradient(tensor("x", 1)), as(Role::result, tensor("result", 1))});
        return load(builder.get());
    }

    template <class Act>
    void expect_found(const std::string& text, Act act) {
        try {
            act();
            ADD_FAILURE() << "nothing was found";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::not_finite) << error.what();
            EXPECT_EQ(error.what(), "KF_CHECK=nan: " + text + "; all that the call was given is finite");
        }
    }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
    Module module;
};

TEST_F(NanWatchTest, NamesTheFirstCallThatMakesOne) {
    const auto f = inverse();
    const auto run = [&](const Tensor<float, 1>& x) {
        std::array args{Arg::in(x), Arg::none()};
        invoke(f, 0, PassKind::forward, args);
        return Tensor<float, 1>(args[1].allocated);
    };
    EXPECT_EQ(run(device.tensor<float>({1, 2})).to_vector(), (std::vector<float>{1, 0.5F}));
    expect_found("inverse, forward pass, call 2: argument 'result' has -inf at [2]", [&] {
        run(device.tensor<float>({1, 4, -0.F}));
    });
    // What is given is somebody else's fault.
    EXPECT_EQ(run(device.tensor<float>({inf, 0})).to_vector(), (std::vector<float>{0, inf}));
    device.set_check(Check::nothing);
    EXPECT_EQ(device.check(), Check::nothing);
    fake->commands.clear();
    run(device.tensor<float>({0}));
    EXPECT_EQ(fake->count("read_back"), 0U);
}

TEST_F(NanWatchTest, LooksAtGradients) {
    const auto f = inverse();
    const auto run = [&](const Tensor<float, 1>& x, const Tensor<float, 1>& y) {
        std::array args{Arg::in(x), Arg::in(y)};
        invoke(f, 0, PassKind::backward, args);
    };
    const auto y = [&](std::initializer_list<float> flowing) {
        return device.zeros<float>({2}).with_grads(device.tensor<float>(flowing), {});
    };
    const auto x = device.tensor<float>({1, 1e-30F}).with_grads();
    run(device.tensor<float>({1, 2}).with_grads(), y({1, 1}));
    expect_found("inverse, backward pass, call 2: the gradient of argument 'x' has -inf at [1]", [&] {
        run(x, y({1, 1}));
    });
    run(x, y({1, 1}));  // which its gradient has had since
    run(device.tensor<float>({1, 1e-30F}).with_grads(), y({nan, 1}));
}

TEST_F(NanWatchTest, LooksAtValues) {
    ManifestBuilder builder;
    builder.add("f", {value("a"), as(Role::result, value("result"))}, false);
    const auto f = load(builder.get());
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        *floats(c.field<std::uint64_t>(RecordKind::data, 1)) = 1 / c.field<float>(RecordKind::value, 0);
    };
    float result = 0;
    const auto run = [&](float a) {
        std::array args{Arg::in(a), Arg::out(result)};
        invoke(f, 0, PassKind::forward, args);
    };
    run(2);
    EXPECT_EQ(result, 0.5F);
    expect_found("f, forward pass, call 2: argument 'result' has inf", [&] { run(0); });
    run(nan);
}

TEST_F(NanWatchTest, LooksAtPartsOfBuffers) {
    ManifestBuilder builder;
    builder.add("put", {buffer("all", Access::read_write), tensor("x", 1)}, false);
    const auto f = load(builder.get());
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        const auto& range = std::get<driver::BufferRange>(c.resources[0]);
        floats(range.allocation->address + range.offset)[1] =
            floats(c.field<std::uint64_t>(RecordKind::data, 1))[0] * 1e38F;
    };
    const auto all = device.tensor<float>({1, 2, 3});
    const auto run = [&](float x) {
        const auto given = device.tensor<float>({x});
        std::array args{Arg::in(all), Arg::in(given)};
        invoke(f, 0, PassKind::forward, args);
    };
    run(1);
    expect_found("put, forward pass, call 2: argument 'all' has inf at [1]", [&] { run(1000); });
}

TEST_F(NanWatchTest, LooksAtFieldsOfStructs) {
    ManifestBuilder builder;
    Argument tag = tensor("rays.tag", 1, ScalarType::int32);
    Argument pos = tensor("rays.pos", 1, ScalarType::float32, {2});
    pos.offset = 4;
    for (Argument* field : {&tag, &pos}) {
        field->pitch = 3;
        field->role = Role::inout;
    }
    builder.add("step", {tag, pos}, false);
    Manifest manifest = builder.get();
    Call& call = manifest.functions.front().calls.front();
    ParameterTree rays;
    rays.name = "rays";
    rays.form = Form::tensor;
    rays.type = "Ray";
    rays.leaves = 2;
    rays.size = 12;
    rays.fields = call.parameters;
    for (ParameterTree& field : rays.fields) field.form = Form::leaf;
    rays.fields[0].name = "tag";
    rays.fields[1].name = "pos";
    rays.fields[1].offset = 4;
    call.parameters = {rays};
    call.items = items_of(call.parameters);
    const detail::FunctionRef f = [&] {
        module = Module::load(device, artifact::write(manifest));
        return module.function("step");
    }();
    float factor = 1;
    fake->on_dispatch = [&](FakeDevice&, const Command& c) {
        const auto at = c.field<std::uint64_t>(RecordKind::data, 1);
        floats(at)[3 + 1] *= factor;
    };
    ElementType ray;
    ray.struct_size = 12;
    const std::array<float, 6> values{nan, 1, 2, nan, 3, 4};  // tags are numbers of another kind
    const AnyTensor given = AnyTensor::from_host(device, ray, {2}, std::as_bytes(std::span(values)));
    const auto run = [&] {
        std::array args{Arg::of(given)};
        invoke(f, 0, PassKind::forward, args);
    };
    run();
    factor = inf;
    expect_found("step, forward pass, call 2: argument 'rays.pos' has inf at [1, 1]", run);
}

TEST_F(NanWatchTest, LooksAtRecordedCallsWhenTheyRun) {
    const auto f = inverse();
    const auto x = device.tensor<float>({1, 0});
    const auto y = device.zeros<float>({2});
    const auto z = device.zeros<float>({2});
    Encoder encoder = device.encoder();
    const auto record = [&](const Tensor<float, 1>& from, const Tensor<float, 1>& to, Encoder& into) {
        const auto target = out(to);
        std::array args{Arg::in(from), Arg::out(target)};
        invoke(f, 0, PassKind::forward, args, &into);
    };
    record(device.tensor<float>({1, 2}), z, encoder);
    record(x, y, encoder);
    record(y, z, encoder);
    EXPECT_EQ(fake->count("dispatch"), 0U);
    expect_found("inverse, forward pass, call 2: argument 'result' has inf at [1]",
                 [&] { encoder.submit(); });
    EXPECT_EQ(fake->count("dispatch"), 2U);

    const PreparedCall prepared = detail::prepare(f, [&](Encoder& into) { record(x, y, into); });
    expect_found("inverse, forward pass, call 3: argument 'result' has inf at [1]", [&] { prepared(); });
    x.copy_from({1, 1});
    prepared();
    x.copy_from({0, 1});
    Encoder again = device.encoder();
    prepared.append_to(again);
    expect_found("inverse, forward pass, call 5: argument 'result' has inf at [0]", [&] { again.submit(); });

    Graph graph(device);
    record(z, y, graph.encoder());
    record(x, z, graph.encoder());
    z.copy_from({1, 1});
    expect_found("inverse, forward pass, call 7: argument 'result' has inf at [0]", [&] { graph.replay(); });
}

TEST_F(NanWatchTest, KnowsTheValuesThatPreparedCallsHave) {
    const auto f = load(polynomial());
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        const float a = c.field<float>(RecordKind::value, 0);
        floats(c.field<std::uint64_t>(RecordKind::data, 4))[0] = a * 1e38F;
    };
    const auto x = device.tensor<float>({1});
    const auto y = device.zeros<float>({1});
    const PreparedCall prepared = detail::prepare(f, [&](Encoder& into) {
        const float a = 1, b = 0, c = 0;
        const auto target = out(y);
        std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::out(target)};
        invoke(f, 0, PassKind::forward, args, &into);
    });
    prepared();
    prepared.set("a", inf);
    prepared();
    prepared.set("a", 1000.F);
    expect_found("polynomial, forward pass, call 3: argument 'result' has inf at [0]", [&] { prepared(); });
}

TEST_F(NanWatchTest, TellsHookedCallsFromTheirHooks) {
    const auto f = inverse();
    const auto x = device.tensor<float>({1, 0});
    const auto y = device.zeros<float>({2});
    const auto hooked = detail::hooked(f, [&](HookContext& context) {
        const auto target = out(y);
        std::array args{Arg::in(x), Arg::out(target)};
        invoke(f, 0, PassKind::forward, args, &context.encoder());
    });
    const auto run = [&](Encoder* encoder) {
        const auto z = device.zeros<float>({2});
        const auto target = out(z);
        std::array args{Arg::in(y), Arg::out(target)};
        invoke(hooked, 0, PassKind::forward, args, encoder);
    };
    expect_found("inverse, forward pass, call 1: argument 'result' has inf at [1]", [&] { run(nullptr); });
    x.copy_from({inf, 1});
    y.copy_from({1, 1});
    run(nullptr);  // what the hook was given wasn't finite, so nobody knows what the call itself was
    x.copy_from({0, 1});
    y.copy_from({1, 1});
    Encoder encoder = device.encoder();
    run(&encoder);
    expect_found("inverse, forward pass, call 5: argument 'result' has inf at [0]",
                 [&] { encoder.submit(); });
}

TEST(NanWatchEnvironment, IsAskedWhenADeviceIsOpened) {
    const auto opened = [] { return detail::make_device(std::make_shared<FakeDevice>()); };
    EXPECT_EQ(opened().check(), Check::nothing);
    ASSERT_EQ(setenv("KF_CHECK", "nan", 1), 0);
    EXPECT_EQ(opened().check(), Check::nan);
    ASSERT_EQ(setenv("KF_CHECK", "0", 1), 0);
    EXPECT_EQ(opened().check(), Check::nothing);
    ASSERT_EQ(setenv("KF_CHECK", "nans", 1), 0);
    try {
        (void)opened();
        ADD_FAILURE() << "a device was opened";
    } catch (const ArgumentError& error) {
        EXPECT_STREQ(error.what(), "KF_CHECK=nans: this runtime knows KF_CHECK=nan");
    }
    ASSERT_EQ(unsetenv("KF_CHECK"), 0);
}

}  // namespace
