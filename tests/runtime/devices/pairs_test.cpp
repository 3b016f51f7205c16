// Two devices at a time: two GPUs, a GPU's two drivers, or a GPU and a CPU driver.
#include <thread>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class PairsTest : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairsTest);
INSTANTIATE_TEST_SUITE_P(Devices, PairsTest, ::testing::ValuesIn(device_pairs()), [](const auto& test) {
    return test_name(test.param.first) + "_and_" + test_name(test.param.second);
});

TEST_P(PairsTest, OneThreadCallsBothByTurns) {
    const Device a = Device::open(GetParam().first);
    const Device b = Device::open(GetParam().second);
    const devices::Module on_a(a);
    const devices::Module on_b(b);
    const auto x = a.tensor(std::vector<float>(1000, 1.F));
    const auto y = b.tensor(std::vector<float>(1000, 2.F));
    for (int i = 0; i < 50; ++i) {
        on_a.advance(x, 1);
        on_b.advance(y, 2);
    }
    EXPECT_THAT(x.to_vector(), Each(51));
    EXPECT_THAT(y.to_vector(), Each(102));
}

TEST_P(PairsTest, AThreadForEach) {
    const std::vector<std::string> ids = {GetParam().first, GetParam().second};
    std::vector<float> sums(2);
    std::vector<std::vector<float>> results(2);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const Device device = Device::open(ids[t]);
            const devices::Module module(device);
            const auto x = device.tensor(std::vector<float>(5000, static_cast<float>(t)));
            const auto c = device.tensor<float>({0}).with_grads();
            const auto one = device.tensor<float>({1});
            for (int i = 0; i < 100; ++i) {
                module.advance(x, 1);
                module.polynomial.backward(one, one, c, x, {});
            }
            results[t] = x.to_vector();
            sums[t] = c.grad().to_vector()[0];
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(results[0], Each(100));
    EXPECT_THAT(results[1], Each(101));
    EXPECT_THAT(sums, Each(100 * 5000));
}

TEST_P(PairsTest, TensorsOfAnotherDeviceAreRefused) {
    const Device a = Device::open(GetParam().first);
    const Device b = Device::open(GetParam().second);
    const devices::Module module(a);
    const auto x = b.tensor<float>({1});
    const auto result = module.advance.try_call(x, 1);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), ErrorCode::device_mismatch);
    EXPECT_THAT(result.error().what(), ::testing::HasSubstr(GetParam().second));
    EXPECT_THAT(x.to_vector(), ElementsAre(1));
}

TEST_P(PairsTest, OneDevicesEndLeavesTheOther) {
    const Device a = Device::open(GetParam().first);
    const auto x = a.tensor<float>({1, 2});
    {
        const Device b = Device::open(GetParam().second);
        const devices::Module module(b);
        EXPECT_THAT(module.polynomial(1, 0, 0, b.tensor<float>({3})).to_vector(), ElementsAre(9));
    }
    EXPECT_THAT(devices::Module(a).polynomial(1, 0, 0, x).to_vector(), ElementsAre(1, 4));
}

}  // namespace
}  // namespace kf::test
