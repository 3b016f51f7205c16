// Calls, forward and backward, on each device.
#include <cmath>
#include <random>
#include <thread>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class CallsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CallsTest);
INSTANTIATE_TEST_SUITE_P(Devices, CallsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(CallsTest, ForwardAndBackward) {
    const auto x = device_.tensor<float>({1, 2, 3, 4}).with_grads();
    const auto y = module_.polynomial(2, 8, -1, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(9, 23, 41, 63));
    module_.polynomial.backward(2, 8, -1, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(12, 16, 20, 24));
    module_.polynomial.backward(2, 8, -1, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(24, 32, 40, 48)) << "gradients accumulate";
}

TEST_P(CallsTest, DeterministicGradientsAreTheSameBits) {
    constexpr std::size_t count = 100'003;
    std::mt19937 random(5);
    std::vector<float> xs(count);
    double wanted = 0;
    for (float& x : xs) {
        x = std::generate_canonical<float, 24>(random) - 0.5F;
        wanted += x;
    }
    const auto x = device_.tensor(xs);
    const auto one = device_.tensor<float>({1});
    const auto run = [&](const devices::Module& module) {
        const auto b = device_.tensor<float>({8}).with_grads();
        module.polynomial.backward(one, b, one, x, Tensor<float, 1>());
        return b.grad().to_vector()[0];
    };
    const devices::Module exact = module_.options({.deterministic = true});
    const float first = run(exact);
    EXPECT_NEAR(first, wanted, 1e-3);
    for (int i = 0; i < 19; ++i) EXPECT_EQ(run(exact), first);
    EXPECT_NEAR(run(module_), wanted, 1e-3);
    const auto c = device_.tensor<float>({8}).with_grads();
    module_.polynomial.options({.deterministic = true}).backward(one, one, c, x, Tensor<float, 1>());
    EXPECT_THAT(c.grad().to_vector(), ElementsAre(count));
    Diff<float> value{1, 0};
    EXPECT_THROW(exact.polynomial.backward(1, 1, value, x, Tensor<float, 1>()), ArgumentError)
        << "not generated";
}

TEST_P(CallsTest, FusedLossesReturnAndAdd) {
    Diff<float> a{3, 100};
    bool near = true;
    EXPECT_EQ(module_.line_error.fused(a, 1, 2, 5, near), 4);
    EXPECT_EQ(a.grad, 108);
    EXPECT_FALSE(near);
    constexpr std::size_t count = 100'003;
    std::mt19937 random(3);
    std::vector<float> xs(count);
    std::vector<float> ys(count);
    double wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
        xs[i] = std::generate_canonical<float, 24>(random);
        ys[i] = std::generate_canonical<float, 24>(random) * 4;
        wanted += 2 * (2.0 * xs[i] + 0.5 - ys[i]) * xs[i];
    }
    const auto x = device_.tensor(xs);
    const auto y = device_.tensor(ys).with_grads();
    const auto nears = device_.empty<bool>({count});
    std::vector<float> sums;
    for (int i = 0; i < 20; ++i) {
        const auto slope = device_.tensor<float>({2}).with_grads();
        const auto losses = module_.options({.deterministic = true})
                                .line_error.fused(slope, 0.5, x, y, out(nears))
                                .to_vector();
        sums.push_back(slope.grad().to_vector()[0]);
        for (std::size_t j = 0; j < count; j += 997) {
            const double error = 2.0 * xs[j] + 0.5 - ys[j];
            EXPECT_NEAR(losses[j], error * error, 1e-4);
        }
    }
    EXPECT_NEAR(sums[0], wanted, 1e-2 * std::abs(wanted) / 100);
    EXPECT_THAT(sums, Each(sums[0]));
    EXPECT_NEAR(y.grad().to_vector()[5] / 20, -2 * (2.0 * xs[5] + 0.5 - ys[5]), 1e-4);
    EXPECT_EQ(nears.to_vector()[5], std::abs(2.0 * xs[5] + 0.5 - ys[5]) < 1);
}

TEST_P(CallsTest, FusedLossesAreRecorded) {
    const auto one = device_.tensor<float>({1, 1, 1}).with_grads();
    const auto x = device_.tensor<float>({1, 2, 3});
    const auto nears = device_.empty<bool>({3});
    const auto losses = device_.empty<float>({3});
    Encoder encoder = device_.encoder();
    module_.line_error.fused.append_to(encoder, one, 0, x, x, out(nears), out(losses));
    encoder.submit();
    EXPECT_THAT(losses.to_vector(), Each(0));
    EXPECT_THAT(nears.to_vector(), Each(true));
    const auto wrong = module_.line_error.fused.try_call(x, 0, x, x, out(nears));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), ErrorCode::missing_gradient);
}

TEST_P(CallsTest, ForwardAndBackwardOfValues) {
    EXPECT_EQ(module_.polynomial(2, 8, -1, 3), 41);
    Diff<float> a{2, 0};
    Diff<float> x{3, 100};
    module_.polynomial.backward(a, 8, -1, x);
    EXPECT_EQ(a.grad, 9);
    EXPECT_EQ(x.grad, 120);
}

TEST_P(CallsTest, LoadsAllItsKernels) {
    module_.loaded().load_all();
    EXPECT_EQ(module_.polynomial(1, 1, 1, 1), 3);
}

TEST_P(CallsTest, BackwardSumsWhatIsBroadcast) {
    constexpr std::size_t count = 1'000'003;
    std::mt19937 random(7);
    std::vector<float> xs(count);
    std::vector<float> flows(count);
    double a = 0;
    double b = 0;
    double c = 0;
    for (std::size_t i = 0; i < count; ++i) {
        xs[i] = std::generate_canonical<float, 24>(random);
        flows[i] = std::generate_canonical<float, 24>(random);
        const double x = xs[i];
        a += x * x * flows[i];
        b += x * flows[i];
        c += flows[i];
    }
    const auto x = device_.tensor(xs).with_grads();
    const auto flow = device_.tensor(flows);
    const auto y = device_.empty<float>({static_cast<std::int64_t>(count)}).with_grads(flow, {});

    const auto two = device_.tensor<float>({2}).with_grads();
    const auto eight = device_.tensor<float>({8}).with_grads();
    const auto one = device_.tensor<float>({-1}).with_grads();
    module_.polynomial(two, eight, one, x, out(y));
    module_.polynomial.backward(two, eight, one, x, y);
    EXPECT_NEAR(two.grad().to_vector()[0], a, 1e-5 * a);
    EXPECT_NEAR(eight.grad().to_vector()[0], b, 1e-5 * b);
    EXPECT_NEAR(one.grad().to_vector()[0], c, 1e-5 * c);
    const std::vector<float> ys = y.to_vector();
    const std::vector<float> gradient = x.grad().to_vector();
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_NEAR(ys[i], 2.0 * xs[i] * xs[i] + 8.0 * xs[i] - 1, 1e-5) << i;
        ASSERT_NEAR(gradient[i], flows[i] * (4.0 * xs[i] + 8), 2e-5) << i;
    }

    Diff<float> value{2, 0};
    Diff<float> linear{8, 0};
    Diff<float> constant{-1, 0};
    module_.polynomial.backward(value, linear, constant, x, y);
    EXPECT_NEAR(value.grad, a, 1e-5 * a);
    EXPECT_NEAR(linear.grad, b, 1e-5 * b);
    EXPECT_NEAR(constant.grad, c, 1e-5 * c);
}

TEST_P(CallsTest, BackwardOfHalvesRoundsOnce) {
    constexpr std::size_t count = 4097;
    const auto x = device_.tensor(std::vector<half>(count, half(0.25F)));
    const auto y = device_.tensor<half>({half(1)}).with_grads();
    module_.product.backward(x, y, {});
    // In halves, a sum of quarters stops growing at 512.
    EXPECT_EQ(static_cast<float>(y.grad().to_vector()[0]), static_cast<float>(half(1024.25F)));
}

TEST_P(CallsTest, ForwardAndBackwardOfStridedViews) {
    const auto x = device_.tensor<float>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    const auto y = module_.polynomial(1, 0, 0, x.transpose());
    EXPECT_THAT(y.to_vector(), ElementsAre(1, 16, 4, 25, 9, 36));
    module_.polynomial.backward(1, 0, 0, x.transpose(), y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_P(CallsTest, EverySizeAroundAGroupAndAVector) {
    for (const std::int64_t size : {0, 1, 3, 4, 5, 31, 33, 127, 128, 129, 511, 512, 513, 4097, 300'000}) {
        const std::vector<float> values = eighths(static_cast<std::size_t>(size) + 9);
        const auto whole = device_.tensor(values).with_grads();
        const auto target = device_.zeros<float>({size + 9});
        const auto x = whole.slice(0, 3, 3 + size);  // not aligned to more than an element
        const auto y = target.slice(0, 5, 5 + size);
        const auto c = device_.tensor<float>({0}).with_grads();
        const auto zero = device_.tensor<float>({0});
        const auto one = device_.tensor<float>({1});
        module_.polynomial(one, zero, c, x, out(y));
        module_.polynomial.backward(one, zero, c, x, y);
        std::vector<float> expected(values.size());
        std::vector<float> gradient(values.size());
        for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
            expected[i + 5] = values[i + 3] * values[i + 3];
            gradient[i + 3] = 2 * values[i + 3];
        }
        EXPECT_EQ(target.to_vector(), expected) << size;
        EXPECT_EQ(whole.grad().to_vector(), gradient) << size;
        EXPECT_EQ(c.grad().to_vector()[0], static_cast<float>(size));
    }
}

TEST_P(CallsTest, AnEncoderRunsInOrder) {
    const auto x = device_.tensor(std::vector<float>(1000, 1.F));
    Encoder encoder = device_.encoder();
    for (int i = 0; i < 50; ++i) {
        module_.advance.append_to(encoder, x, 1);
    }
    EXPECT_THAT(x.to_vector(), Each(1));
    module_.advance(x, 0.5F);
    encoder.submit();
    EXPECT_THAT(x.to_vector(), Each(51.5F));
}

TEST_P(CallsTest, ThreadsShareADevice) {
    std::vector<std::vector<float>> results(2);
    std::vector<float> gradients(2);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const auto x = device_.tensor(std::vector<float>(5000, static_cast<float>(t)));
            const auto c = device_.tensor<float>({0}).with_grads();
            const auto one = device_.tensor<float>({1});
            for (int i = 0; i < 200; ++i) {
                module_.advance(x, 1);
                module_.polynomial.backward(one, one, c, x, {});
            }
            results[t] = x.to_vector();
            gradients[t] = c.grad().to_vector()[0];
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t t = 0; t < 2; ++t) {
        EXPECT_THAT(results[t], Each(static_cast<float>(200 + t)));
        EXPECT_EQ(gradients[t], 200 * 5000);
    }
}

TEST_P(CallsTest, TheFirstCallsOfTwoThreadsMeet) {
    for (int round = 0; round < 5; ++round) {
        const devices::Module fresh(Device::open(GetParam()));
        const Device device = fresh.loaded().device();
        std::vector<float> results(2);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 2; ++t) {
            threads.emplace_back([&, t] {
                const auto x = device.tensor<float>({static_cast<float>(t)});
                results[t] = fresh.polynomial(1, 1, 1, x).to_vector()[0];
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_THAT(results, ElementsAre(1, 3));
    }
}

}  // namespace
}  // namespace kf::test
