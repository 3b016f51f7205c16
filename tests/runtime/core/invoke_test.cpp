// Whole calls on a driver in host memory.
#include <kf/invoke.h>
#include <kf/kf.h>

#include <gtest/gtest.h>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/tensor_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using detail::PassKind;
using manifest::RecordKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using V = std::vector<float>;

class InvokeTest : public testing::Test {
protected:
    detail::FunctionRef load(const Manifest& manifest) {
        module = Module::load(device, artifact::write(manifest));
        return module.function(manifest.functions.front().name);
    }
    float* floats(std::uint64_t address) { return reinterpret_cast<float*>(fake->at(address)); }

    /// Contiguous polynomial kernels, forward and backward.
    void run_polynomial() {
        fake->on_dispatch = [this](FakeDevice&, const Command& c) {
            const auto total = c.field<std::int64_t>(RecordKind::launch);
            const auto a = c.field<float>(RecordKind::value, 0);
            const auto b = c.field<float>(RecordKind::value, 1);
            const float* x = floats(c.field<std::uint64_t>(RecordKind::data, 3));
            if (c.kernel == "polynomial.forward.contiguous") {
                float* y = floats(c.field<std::uint64_t>(RecordKind::data, 4));
                for (std::int64_t i = 0; i < total; ++i) {
                    y[i] = a * x[i] * x[i] + b * x[i] + c.field<float>(RecordKind::value, 2);
                }
                return;
            }
            ASSERT_EQ(c.kernel, "polynomial.backward.contiguous");
            const auto grad_in = c.field<std::uint64_t>(RecordKind::grad_in, 4);
            for (std::int64_t i = 0; i < total; ++i) {
                const float g = grad_in == 0 ? 1.F : floats(grad_in)[i];
                const float parts[] = {x[i] * x[i] * g, x[i] * g, g, (2 * a * x[i] + b) * g};
                for (std::int64_t k = 0; k < 4; ++k) {
                    const auto target = c.field<std::uint64_t>(RecordKind::grad_out, k);
                    const auto mode = c.field<std::uint32_t>(RecordKind::grad_out, k, "mode");
                    ASSERT_EQ(mode != 0, target != 0);
                    if (mode == 0) continue;
                    float& gradient = floats(target)[k == 3 ? i : 0];
                    const bool is_stored = mode >= 4 && (k == 3 || i == 0);
                    gradient = (is_stored ? 0 : gradient) + parts[k];
                }
            }
        };
    }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
    Module module;
};

TEST_F(InvokeTest, AllocatesTheResult) {
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    const auto x = device.tensor<float>({1, 2, 3, 4});
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
    invoke(f, 0, PassKind::forward, args);
    EXPECT_EQ((Tensor<float, 1>(args[4].allocated)).to_vector(), (V{9, 23, 41, 63}));
    EXPECT_EQ(fake->last_dispatch().groups, (driver::Grid{1, 1, 1}));
    EXPECT_EQ(fake->last_dispatch().uses.size(), 2U);
    EXPECT_FALSE(fake->last_dispatch().uses[0].writes);
    EXPECT_TRUE(fake->last_dispatch().uses[1].writes);
}

TEST_F(InvokeTest, WritesAGivenResult) {
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    const auto x = device.tensor<float>({1, 2, 3, 4});
    const auto target = out(x);
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::out(target)};
    invoke(f, 0, PassKind::forward, args);
    EXPECT_EQ(x.to_vector(), (V{9, 23, 41, 63}));
    EXPECT_FALSE(args[4].allocated);
    EXPECT_EQ(fake->last_dispatch().uses.size(), 1U);
}

TEST_F(InvokeTest, AddsGradients) {
    const auto f = load(polynomial());
    run_polynomial();
    Diff<float> a{2.F}, c{-1.F, 100.F};
    const float b = 8;
    const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
    x.grad().copy_from({1, 1, 1, 1});
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(x.grad().to_vector(), (V{13, 17, 21, 25}));
    EXPECT_EQ(a.grad, 30.F);
    EXPECT_EQ(c.grad, 104.F);

    const auto y = device.zeros<float>({4}).with_grads(device.tensor<float>({0, 0, 1, 0}), {});
    args[4] = Arg::in(y);
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(a.grad, 39.F);
}

TEST_F(InvokeTest, ReadsValuesBack) {
    ManifestBuilder builder;
    builder.add("f",
                {value("a", ScalarType::float16, {3}), as(Role::inout, value("n", ScalarType::int32)),
                 as(Role::result, value("result", ScalarType::boolean))},
                false);
    const auto f = load(builder.get());
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        std::int32_t* n =
            reinterpret_cast<std::int32_t*>(fake->at(c.field<std::uint64_t>(RecordKind::data, 1)));
        EXPECT_EQ((c.field<std::array<float, 3>>(RecordKind::value, 0)), (std::array{1.5F, -2.F, 4.F}));
        *n += 1;
        *fake->at(c.field<std::uint64_t>(RecordKind::data, 2)) = std::byte{1};
    };
    const half3 a{1.5F, -2.F, 4.F};
    std::int32_t n = 41;
    bool result = false;
    std::array args{Arg::in(a), Arg::inout(n), Arg::out(result)};
    invoke(f, 0, PassKind::forward, args);
    EXPECT_EQ(n, 42);
    EXPECT_TRUE(result);
}

TEST_F(InvokeTest, KeepsValuesWhereTheHostHasThem) {
    fake->maps = true;
    ManifestBuilder builder;
    builder.add("f",
                {value("a", ScalarType::float32), as(Role::inout, value("n", ScalarType::int32)),
                 as(Role::result, value("result", ScalarType::int64))},
                false);
    const auto f = load(builder.get());
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        auto* n = reinterpret_cast<std::int32_t*>(fake->at(c.field<std::uint64_t>(RecordKind::data, 1)));
        auto* result = reinterpret_cast<std::int64_t*>(fake->at(c.field<std::uint64_t>(RecordKind::data, 2)));
        EXPECT_EQ(*result, 0) << "what lies between values is zeros";
        *result = *n;
        *n += 1;
    };
    const float a = 1;
    std::int32_t n = 41;
    std::int64_t result = -1;
    std::array args{Arg::in(a), Arg::inout(n), Arg::out(result)};
    invoke(f, 0, PassKind::forward, args);
    EXPECT_EQ(n, 42);
    EXPECT_EQ(result, 41);
    EXPECT_EQ(fake->count("upload") + fake->count("fill"), 0U);
    EXPECT_EQ(fake->count("read_back"), 1U);
    ASSERT_EQ(fake->last_dispatch().uses.size(), 1U);
    EXPECT_NE(fake->last_dispatch().uses[0].allocation->host, nullptr);
}

TEST_F(InvokeTest, AddsUpGradientsOfValuesOnTheDevice) {
    fake->maps = true;
    const auto f = load(polynomial());
    run_polynomial();
    Diff<float> a{2.F};
    const float b = 8, c = -1;
    const auto x = device.tensor<float>({1, 2, 3, 4});
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(a.grad, 30.F);
    EXPECT_EQ(fake->count("fill"), 1U) << "calls meet in it";
    for (const driver::Use& use : fake->last_dispatch().uses) EXPECT_EQ(use.allocation->host, nullptr);

    const auto one = device.tensor<float>({3});
    args[3] = Arg::in(one);
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(a.grad, 39.F);
    EXPECT_EQ(fake->count("fill"), 1U) << "a single call meets nobody";
}

TEST_F(InvokeTest, MakesResultsWhereTheHostReadsThem) {
    fake->maps = true;
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    for (const std::int64_t size : {4, 16384, 16385}) {
        const auto x = device.tensor(V(static_cast<std::size_t>(size), 1.F));
        for (const bool is_read : {true, false, true}) {  // bound anew, then as before
            std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
            args[4].is_read = is_read;
            invoke(f, 0, PassKind::forward, args);
            const bool is_mapped = args[4].allocated.state()->allocation->host != nullptr;
            EXPECT_EQ(is_mapped, is_read && size <= 16384);
            EXPECT_THAT((Tensor<float, 1>(args[4].allocated)).to_vector(), ::testing::Each(9.F));
        }
    }
}

TEST_F(InvokeTest, WidensValues) {
    ManifestBuilder builder;
    builder.add(
        "f",
        {value("a", ScalarType::int8), value("b", ScalarType::uint16), value("c", ScalarType::boolean, {2}),
         value("d", ScalarType::float64), value("e", ScalarType::int64), as(Role::result, value("result"))},
        false);
    const auto f = load(builder.get());
    const std::int8_t a = -5;
    const std::uint16_t b = 65535;
    const bool2 c{false, true};
    const double d = 0.1;
    const std::int64_t e = -(std::int64_t{1} << 40);
    float result = 0;
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(d), Arg::in(e), Arg::out(result)};
    invoke(f, 0, PassKind::forward, args);
    const Command& command = fake->last_dispatch();
    EXPECT_EQ(command.field<std::int32_t>(RecordKind::value, 0), -5);
    EXPECT_EQ(command.field<std::uint32_t>(RecordKind::value, 1), 65535U);
    EXPECT_EQ((command.field<std::array<std::uint32_t, 2>>(RecordKind::value, 2)), (std::array{0U, 1U}));
    EXPECT_EQ(command.field<double>(RecordKind::value, 3), 0.1);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::value, 4), e);
}

TEST_F(InvokeTest, PacksStridedViews) {
    ManifestBuilder builder;
    builder.add("f",
                {tensor("x", 1, ScalarType::float32, {3}),
                 as(Role::result, tensor("result", 2, ScalarType::float32))},
                false);
    const auto f = load(builder.get());
    const auto x = device.zeros<float3>({8}).slice(0, 1, 8, 3);
    std::array args{Arg::in(x), Arg::none()};
    const Dims shape{2, 3};
    invoke(f, 0, PassKind::forward, args, nullptr, &shape);
    const Command& command = fake->last_dispatch();
    EXPECT_EQ(command.kernel, "f.forward.strided");
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::launch), 6);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::shape, -1, "extents", 0), 2);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::shape, -1, "extents", 1), 3);
    EXPECT_EQ(command.field<std::uint64_t>(RecordKind::data, 0), x.address());
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides"), 9);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides", 1), 1);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 1, "strides"), 3);
    EXPECT_EQ(args[1].allocated.shape(), (Dims{2, 3}));
}

TEST_F(InvokeTest, FindsScalarsOfArraysOfMatrices) {
    ManifestBuilder builder;
    builder.add("f", {tensor("x", 1, ScalarType::float32, {5, 2, 3}),
                      as(Role::result, tensor("result", 1, ScalarType::float32))});
    const auto f = load(builder.get());
    ElementType element{ScalarType::float32, 3, {5, 2, 3, 1}};
    const AnyTensor x = AnyTensor::zeros(device, element, {8}).slice(0, 1, 8, 2);
    std::array args{Arg::of(x), Arg::none()};
    invoke(f, 0, PassKind::forward, args);
    const Command& command = fake->last_dispatch();
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides"), 60);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides", 1), 6);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides", 2), 3);
    EXPECT_EQ(command.field<std::int64_t>(RecordKind::data, 0, "strides", 3), 1);
}

TEST_F(InvokeTest, GivesScratchToHalfGradients) {
    ManifestBuilder builder;
    builder.add("f", {with_gradient(tensor("a", 1, ScalarType::float16)), tensor("b", 1, ScalarType::float16),
                      as(Role::result, tensor("result", 1, ScalarType::float16))});
    const auto f = load(builder.get());
    const auto a = device.ones<half>({1}).with_grads();
    const auto b = device.ones<half>({1000});
    fake->on_dispatch = [this](FakeDevice&, const Command& c) {
        EXPECT_EQ(c.field<std::uint32_t>(RecordKind::grad_out, 0, "mode"), 2U);
        EXPECT_EQ(c.field<std::int64_t>(RecordKind::sums, 0, "count"), 1);
        EXPECT_EQ(*floats(c.field<std::uint64_t>(RecordKind::sums, 0)), 0.F);
        EXPECT_EQ(*floats(c.field<std::uint64_t>(RecordKind::counter)), 0.F);
    };
    std::array args{Arg::in(a), Arg::in(b), Arg::none()};
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(fake->count("dispatch"), 1U);
    EXPECT_EQ(fake->count("read_back"), 0U);
    // Where each call has its own element there is no scratch and nothing to zero.
    const std::size_t fills = fake->count("fill");
    fake->on_dispatch = [](FakeDevice&, const Command& c) {
        EXPECT_EQ(c.field<std::uint64_t>(RecordKind::counter), 0U);
        EXPECT_EQ(c.field<std::uint64_t>(RecordKind::sums, 0), 0U);
    };
    const auto wide = device.empty<half>({1000}).with_grads(false);
    args[0] = Arg::in(wide);
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(fake->count("fill"), fills);
}

TEST_F(InvokeTest, StoresGradientsThatAreOverwritten) {
    Manifest manifest = polynomial();
    manifest.functions[0].calls[0].arguments[3].overwrite = true;
    const auto f = load(manifest);
    run_polynomial();
    const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
    x.grad().copy_from({7, 7, 7, 7});
    const float a = 2, b = 8, c = -1;
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
    const std::size_t fills = fake->count("fill");
    invoke(f, 0, PassKind::backward, args);
    EXPECT_EQ(x.grad().to_vector(), (V{12, 16, 20, 24}));
    EXPECT_EQ(fake->count("fill"), fills);
}

TEST_F(InvokeTest, ZeroesOddNumbersOfHalves) {
    ManifestBuilder builder;
    Argument overwritten = with_gradient(tensor("a", 1, ScalarType::float16));
    overwritten.overwrite = true;
    overwritten.accumulate = manifest::Accumulate::first;  // others are stored, and needn't be zeros
    builder.add("f", {overwritten, as(Role::result, tensor("result", 1, ScalarType::float16))});
    const auto f = load(builder.get());
    const auto all = device.empty<half>({9});
    struct Part {
        std::int64_t begin, end;
    };
    for (const auto& [begin, end] : {Part{0, 9}, {0, 3}, {1, 4}, {3, 5}, {8, 9}, {2, 6}}) {
        for (const bool recorded : {false, true}) {
            all.copy_from(std::vector<half>(9, half(7)));
            const auto a = device.ones<half>({end - begin}).with_grads({}, all.slice(0, begin, end));
            std::array args{Arg::in(a), Arg::none()};
            Encoder encoder = device.encoder();
            invoke(f, 0, PassKind::backward, args, recorded ? &encoder : nullptr);
            if (recorded) {
                encoder.submit();
            }
            const std::vector<half> found = all.to_vector();
            for (std::int64_t i = 0; i < 9; ++i) {
                const float wanted = i >= begin && i < end ? 0.F : 7.F;
                EXPECT_EQ(static_cast<float>(found[static_cast<std::size_t>(i)]), wanted)
                    << i << " of [" << begin << ", " << end << ")";
            }
        }
    }
}

TEST_F(InvokeTest, LaunchesNothingForNoCalls) {
    const auto f = load(polynomial());
    const float a = 2, b = 8, c = -1;
    const auto x = device.empty<float>({0});
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::none()};
    invoke(f, 0, PassKind::forward, args);
    EXPECT_EQ(args[4].allocated.shape(), (Dims{0}));
    EXPECT_TRUE(fake->commands.empty());
    EXPECT_EQ(fake->kernels_loaded, 0);
}

TEST_F(InvokeTest, LeavesEverythingUntouchedWhenItRefuses) {
    const auto f = load(polynomial());
    Diff<float> a{2.F};
    const float b = 8, c = -1;
    const auto x = device.tensor<float>({1, 2, 3, 4});
    const auto y = device.tensor<float>({5, 6, 7});
    fake->commands.clear();
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::out(y)};
    expect_error(ErrorCode::shape_mismatch, HasSubstr("'result'"),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    EXPECT_TRUE(fake->commands.empty());
    args[4] = Arg::none();
    const Device other = detail::make_device(std::make_shared<FakeDevice>());
    const auto elsewhere = other.tensor<float>({1});
    args[3] = Arg::in(elsewhere);
    expect_error(ErrorCode::device_mismatch,
                 AllOf(HasSubstr("argument 'x'"), HasSubstr("opened another time")),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    args[3] = Arg::in(x);
    fake->fail_kernels = true;
    EXPECT_THROW(invoke(f, 0, PassKind::forward, args), DeviceError);
    EXPECT_THROW(invoke(f, 0, PassKind::backward, args), DeviceError);
    EXPECT_TRUE(fake->commands.empty());
    EXPECT_FALSE(args[4].allocated);
    EXPECT_EQ(a.grad, 0.F);
    fake->fail_kernels = false;  // a later call tries again
    EXPECT_NO_THROW(invoke(f, 0, PassKind::forward, args));
}

TEST_F(InvokeTest, RecordsIntoAnEncoder) {
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    const auto x = device.tensor<float>({1, 2, 3, 4});
    const auto y = device.zeros<float>({4});
    Encoder encoder = device.encoder();
    std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::out(y)};
    invoke(f, 0, PassKind::forward, args, &encoder);
    EXPECT_EQ(fake->count("dispatch"), 0U);
    EXPECT_EQ(y.to_vector(), (V{0, 0, 0, 0}));
    encoder.submit();
    EXPECT_EQ(y.to_vector(), (V{9, 23, 41, 63}));
    expect_error(ErrorCode::encoder_submitted, HasSubstr("already submitted"), [&] { encoder.submit(); });
    expect_error(ErrorCode::encoder_submitted, HasSubstr("already submitted"),
                 [&] { invoke(f, 0, PassKind::forward, args, &encoder); });
    EXPECT_FALSE(encoder.try_submit().ok());
}

TEST_F(InvokeTest, RecordsNothingThatNeedsAReadBack) {
    ManifestBuilder builder;
    builder.add("f", {with_gradient(value("a")), as(Role::result, value("result"))});
    const auto f = load(builder.get());
    Diff<float> a{1.F};
    float result = 0;
    Encoder encoder = device.encoder();
    std::array args{Arg::in(a), Arg::out(result)};
    expect_error(ErrorCode::type_mismatch, AllOf(HasSubstr("argument 'result'"), HasSubstr("read back")),
                 [&] { invoke(f, 0, PassKind::forward, args, &encoder); });
    expect_error(ErrorCode::type_mismatch, AllOf(HasSubstr("argument 'a'"), HasSubstr("read back")),
                 [&] { invoke(f, 0, PassKind::backward, args, &encoder); });
    const Device other = detail::make_device(std::make_shared<FakeDevice>());
    Encoder foreign = other.encoder();
    expect_error(ErrorCode::device_mismatch, HasSubstr("encoder"),
                 [&] { invoke(f, 0, PassKind::forward, args, &foreign); });
}

TEST_F(InvokeTest, MakesCallsLikeEarlierOnesAgain) {
    const auto f = load(polynomial());
    run_polynomial();
    const auto call = [&](float a, const Tensor<float, 1>& x, const Arg& out) {
        const float b = 8, c = -1;
        std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), out};
        invoke(f, 0, PassKind::forward, args);
        return Tensor<float, 1>(args[4].allocated);
    };
    const auto x = device.tensor<float>({1, 2, 3, 4});
    const auto other = device.tensor<float>({0, 1, 0, 1});
    const auto y = device.zeros<float>({4});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(call(2, x, Arg::none()).to_vector(), (V{9, 23, 41, 63}));
        EXPECT_EQ(call(1, other, Arg::none()).to_vector(), (V{-1, 8, -1, 8}));
        call(1, x, Arg::out(y));
        EXPECT_EQ(y.to_vector(), (V{8, 19, 32, 47}));
        call(2, other, Arg::out(y));
        EXPECT_EQ(y.to_vector(), (V{-1, 9, -1, 9}));
        EXPECT_EQ(fake->last_dispatch().uses.size(), 2U);
        EXPECT_EQ(call(2, x.slice(0, 1, 3), Arg::none()).to_vector(), (V{23, 41}));
        const auto same = device.tensor<float>({1, 2, 3, 4});
        call(2, same, Arg::out(same));
        EXPECT_EQ(same.to_vector(), (V{9, 23, 41, 63})) << "in place";
        EXPECT_EQ(fake->last_dispatch().uses.size(), 1U);
        EXPECT_EQ(call(2, device.zeros<float>({0}), Arg::none()).size(), 0);
    }
    EXPECT_EQ(fake->kernels_loaded, 1);
}

TEST_F(InvokeTest, AddsGradientsAgain) {
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    for (int i = 0; i < 3; ++i) {
        const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
        const auto y = device.zeros<float>({4}).with_grads(device.tensor<float>({0, 0, 1, 0}), {});
        std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::in(y)};
        invoke(f, 0, PassKind::backward, args);
        EXPECT_EQ(x.grad().to_vector(), (V{0, 0, 20, 0}));
        args[4] = Arg::none();
        invoke(f, 0, PassKind::backward, args);
        EXPECT_EQ(x.grad().to_vector(), (V{12, 16, 40, 24})) << "1 flows in";
        Diff<float> wanted{a};
        args[0] = Arg::in(wanted);
        invoke(f, 0, PassKind::backward, args);
        EXPECT_EQ(wanted.grad, 30.F);
    }
}

TEST_F(InvokeTest, ChecksCallsLikeEarlierOnes) {
    const auto f = load(polynomial());
    run_polynomial();
    const float a = 2, b = 8, c = -1;
    const auto whole = device.tensor<float>({1, 2, 3, 4, 5, 6, 7, 8});
    const auto call = [&](const Tensor<float, 1>& x, const Tensor<float, 1>& y) {
        std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(x), Arg::out(y)};
        invoke(f, 0, PassKind::forward, args);
    };
    const auto x = whole.slice(0, 0, 4);
    call(x, whole.slice(0, 4, 8));
    call(x, whole.slice(0, 4, 8));
    const std::size_t before = fake->count("dispatch");
    expect_error(ErrorCode::aliasing, HasSubstr("shares memory with argument 'x'"),
                 [&] { call(x, whole.slice(0, 2, 6)); });
    const Device elsewhere = detail::make_device(std::make_shared<FakeDevice>());
    expect_error(ErrorCode::device_mismatch, HasSubstr("opened another time"), [&] {
        call(elsewhere.tensor<float>({1, 2, 3, 4}), whole.slice(0, 4, 8));
    });
    const auto grads = x.with_grads({}, whole.slice(0, 4, 8));
    const auto overlapping = x.with_grads({}, whole.slice(0, 3, 7));
    const auto backward = [&](const Tensor<float, 1>& input) {
        std::array args{Arg::in(a), Arg::in(b), Arg::in(c), Arg::in(input), Arg::none()};
        invoke(f, 0, PassKind::backward, args);
    };
    backward(grads);
    backward(grads);
    expect_error(ErrorCode::aliasing, HasSubstr("its gradient, which is written, shares memory"),
                 [&] { backward(overlapping); });
    EXPECT_EQ(fake->count("dispatch"), before + 2);
}

TEST_F(InvokeTest, LoadsEachKernelOnce) {
    const std::vector<std::byte> bytes = artifact::write(polynomial());
    const Module first = Module::load(device, bytes);
    const Module second = Module::load(device, bytes);
    EXPECT_EQ(fake->kernels_loaded, 0);
    first.load_all();
    second.load_all();
    first.load_all();
    EXPECT_EQ(fake->kernels_loaded, 4);
    EXPECT_EQ(first.sha256(), second.sha256());
    EXPECT_THAT(first.functions(), ElementsAre("polynomial"));
    expect_error(ErrorCode::unknown_name, AllOf(HasSubstr("'polynomal'"), HasSubstr("it has polynomial")),
                 [&] { (void)first.function("polynomal"); });
}

TEST_F(InvokeTest, RefusesAnArtifactForAnotherBackend) {
    fake->editable_info().backend = "vulkan";
    const auto result = Module::try_load(detail::make_device(fake), artifact::write(polynomial()));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), ErrorCode::artifact_no_image);
    EXPECT_THAT(result.error().what(), AllOf(HasSubstr("generated for fake"), HasSubstr("vulkan:0")));
    EXPECT_EQ(Module::try_load_file(device, "/nonexistent.kfa").error().code(), ErrorCode::artifact_missing);
}

}  // namespace
