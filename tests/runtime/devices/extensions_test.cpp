// Members from interfaces and extensions, and functions named as Slang's own, on each device.
#include "extensions.h"

#include <cmath>
#include <cstddef>

#include "testing.h"

namespace kf::test {
namespace {

using extensions::Circle;
using extensions::Square;

class ExtensionsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    extensions::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExtensionsTest);
INSTANTIATE_TEST_SUITE_P(Devices, ExtensionsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

/// Quarters: products of three are exact in float.
std::vector<float> quarters(std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 31) / 4 - 4;
    return numbers;
}

TEST_P(ExtensionsTest, DefaultsOfAnInterface) {
    EXPECT_EQ(Square{3}.doubled(module_, 2), 36);
    EXPECT_EQ(Circle{2}.doubled(module_, 1), 11);
    EXPECT_EQ(Square{3}.twice_grown(module_, 2), Square{7});
    EXPECT_EQ(Square::sides(module_), 4);
    EXPECT_EQ(Circle::sides(module_), 0);
    for (const std::size_t size : {0UL, 1UL, 33UL, 4097UL}) {
        SCOPED_TRACE(size);
        std::vector<Square> squares;
        std::vector<float> areas;
        std::vector<Square> gradients;
        for (const float width : quarters(size)) {
            squares.push_back({width});
            areas.push_back(6 * width * width);
            gradients.push_back({12 * width});
        }
        const auto tensor = device_.tensor<Square>(squares).with_grads();
        EXPECT_EQ(module_.Square_doubled(tensor, 3).to_vector(), areas);
        module_.Square_doubled.backward(tensor, 3, {});
        EXPECT_EQ(tensor.grad().to_vector(), gradients);
    }
}

TEST_P(ExtensionsTest, MembersOfScalarsAndVectors) {
    EXPECT_EQ(module_.cubed(1.5F), 3.375F);
    EXPECT_EQ(module_.turned(float3{1, 2, 3}, 4), 10);
    EXPECT_TRUE(module_.is_green(extensions::Color::green));
    EXPECT_FALSE(module_.is_green(extensions::Color::red));
    const std::vector<float> numbers = quarters(4097);
    std::vector<float> cubes;
    std::vector<float> gradients;
    for (const float x : numbers) {
        cubes.push_back(x * x * x);
        gradients.push_back(3 * x * x);
    }
    const auto x = device_.tensor<float>(numbers).with_grads();
    EXPECT_EQ(module_.cubed(x).to_vector(), cubes);
    module_.cubed.backward(x, {});
    EXPECT_EQ(x.grad().to_vector(), gradients);
}

TEST_P(ExtensionsTest, NamesOfSlangsOwn) {
    const std::vector<float> numbers = quarters(33);
    std::vector<float> clamped;
    std::vector<float> between;
    for (const float x : numbers) {
        clamped.push_back(x < -1 ? -1000 : x > 1 ? 1000 : x);
        between.push_back(x + (2 - x) * 0.25F + 100);
    }
    const auto x = device_.tensor<float>(numbers);
    EXPECT_EQ(module_.clamp(x, -1, 1).to_vector(), clamped);
    EXPECT_EQ(module_.lerp(x, 2, 0.25F).to_vector(), between);
}

}  // namespace
}  // namespace kf::test
