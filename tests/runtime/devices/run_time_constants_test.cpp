// Specialization constants that options() chooses, on each device.
#include "run_time_constants.h"

#include <cmath>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointwise;

class RunTimeConstantsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    run_time_constants::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RunTimeConstantsTest);

/// The artifact has code for Vulkan alone.
std::vector<std::string> vulkan_ids() {
    std::vector<std::string> ids = device_ids();
    std::erase_if(ids, [](const std::string& id) { return !id.starts_with("vulkan"); });
    return ids;
}
INSTANTIATE_TEST_SUITE_P(Devices, RunTimeConstantsTest, ::testing::ValuesIn(vulkan_ids()),
                         [](const auto& test) { return test_name(test.param); });

std::vector<float> scaled_powers(const std::vector<float>& values, float factor, int exponent) {
    std::vector<float> result;
    for (const float value : values) result.push_back(factor * std::pow(value, static_cast<float>(exponent)));
    return result;
}

TEST_P(RunTimeConstantsTest, AreChosenByOptions) {
    const std::vector<float> values = eighths(33);
    const auto near = ::testing::FloatNear(1e-4F);
    const auto x = device_.tensor<float>(values).with_grads();
    EXPECT_THAT(module_.power(x).to_vector(), Pointwise(near, scaled_powers(values, 0.75F, 3)));
    const auto square = module_.power.options({.constants = {{"taps", 2}, {"gain", -1.5F}}});
    const auto y = square(x);
    EXPECT_THAT(y.to_vector(), Pointwise(near, scaled_powers(values, -1.5F, 2)));
    square.backward(x, y);
    EXPECT_THAT(x.grad().to_vector(), Pointwise(near, scaled_powers(values, -3, 1)));
    const auto along = device_.tensor<float>(std::vector<float>(values.size(), 1));
    const Dual<Tensor<float, 1>> both = square.jvp({x, along});
    EXPECT_THAT(both.tangent.to_vector(), Pointwise(near, scaled_powers(values, -3, 1)));
    const auto mirrored = square.options({.constants = {{"mirrored", true}}});
    EXPECT_THAT(mirrored(x).to_vector(), Pointwise(near, scaled_powers(values, 1.5F, 2))) << "others stay";
    const auto small = mirrored.options({.variant = "small_groups"});
    EXPECT_THAT(small(x).to_vector(), Pointwise(near, scaled_powers(values, 1.5F, 2)));
}

TEST_P(RunTimeConstantsTest, AreChosenForAModule) {
    const run_time_constants::Module chosen = module_.options({.constants = {{"taps", 11}, {"exact", 0.1}}});
    EXPECT_EQ(chosen.constant_at(0), 11);
    EXPECT_EQ(chosen.constant_at(8), 0.1);
    EXPECT_EQ(module_.constant_at(0), 3);
}

TEST_P(RunTimeConstantsTest, RefuseWhatIsNoValue) {
    const auto refusal = [&](const Options& options) -> std::string {
        try {
            (void)module_.turned.options(options);
        } catch (const ArgumentError& error) {
            return error.what();
        }
        return "nothing is refused";
    };
    EXPECT_THAT(refusal({.constants = {{"taps", 2.5}}}), HasSubstr("constants.taps: expected int"));
    EXPECT_THAT(refusal({.constants = {{"small", 200}}}),
                HasSubstr("expected int8_t, -128 to 127, found 200"));
    EXPECT_THAT(refusal({.constants = {{"tips", 2}}}), HasSubstr("run time chooses: taps (int; 3, 5)"));
    EXPECT_THAT(refusal({.constants = {{"width", 0}}}), HasSubstr("a group has [0, 1, 1] threads"));
}

}  // namespace
}  // namespace kf::test
