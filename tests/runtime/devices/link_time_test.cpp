// Variants of functions, whose kernels are linked with other values, on each device.
#include "link_time.h"

#include <cmath>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointwise;

class LinkTimeTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    link_time::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LinkTimeTest);
INSTANTIATE_TEST_SUITE_P(Devices, LinkTimeTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

std::vector<float> powers(const std::vector<float>& values, float factor, int exponent) {
    std::vector<float> result;
    for (const float value : values) result.push_back(factor * std::pow(value, static_cast<float>(exponent)));
    return result;
}

TEST_P(LinkTimeTest, VariantsHaveValuesOfTheirOwn) {
    const std::vector<float> values = eighths(33);
    const auto near = ::testing::FloatNear(1e-5F);
    const auto x = device_.tensor<float>(values).with_grads();
    const auto fifth = module_.power.options({.variant = "fifth"});
    EXPECT_THAT(module_.power(x).to_vector(), Pointwise(near, powers(values, 1.5F, 3)));
    const auto y = fifth(x);
    EXPECT_THAT(y.to_vector(), Pointwise(near, powers(values, 0.5F, 5)));
    fifth.backward(x, y);
    EXPECT_THAT(x.grad().to_vector(), Pointwise(near, powers(values, 2.5F, 4)));
    const auto along = device_.tensor<float>(std::vector<float>(values.size(), 1));
    const Dual<Tensor<float, 1>> both = fifth.jvp({x, along});
    EXPECT_THAT(both.tangent.to_vector(), Pointwise(near, powers(values, 2.5F, 4)));
    const auto again = fifth.options({.deterministic = true});
    EXPECT_THAT(again(x).to_vector(), Pointwise(near, powers(values, 0.5F, 5))) << "the variant stays";
    EXPECT_THAT(again.options({.variant = "small_groups"})(x).to_vector(),
                Pointwise(near, powers(values, 1.5F, 3)));
}

TEST_P(LinkTimeTest, TypesAndConformances) {
    const auto x = device_.tensor<float>(std::vector<float>{2, 3});
    EXPECT_THAT(module_.scaled(x).to_vector(), ::testing::ElementsAre(110, 130));
    EXPECT_THAT(module_.scaled.options({.variant = "twice"})(x).to_vector(),
                ::testing::ElementsAre(106, 109));
    EXPECT_EQ(module_.area(1U, kf::float2{2, 3}), 6);
    EXPECT_EQ(module_.area.options({.variant = "circles"})(1U, kf::float2{2, 3}), 12);
}

TEST_P(LinkTimeTest, UnknownVariantsAreErrors) {
    try {
        (void)module_.power.options({.variant = "sixth"});
        FAIL() << "accepted";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::unknown_name);
        EXPECT_THAT(error.what(), HasSubstr("no variant 'sixth'; there is: 'fifth' (N = 5, weight = 0.5)"));
    }
}

}  // namespace
}  // namespace kf::test
