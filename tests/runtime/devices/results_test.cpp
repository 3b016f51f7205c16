// Results of every form through the generated header, on each device: values, tensors, structs of several.
#include <array>
#include <type_traits>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;

class ResultsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ResultsTest);
INSTANTIATE_TEST_SUITE_P(Devices, ResultsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(ResultsTest, SeveralValuesAreAStruct) {
    const auto parts = module_.parts(2.75F);
    static_assert(std::is_same_v<decltype(parts.result), float>);
    EXPECT_EQ(parts.result, 0.75F);
    EXPECT_EQ(parts.whole, 2.F);
    float whole = 0;
    EXPECT_EQ(module_.parts(-0.5F, whole), 0.5F);
    EXPECT_EQ(whole, -1);
    EXPECT_EQ(module_.parts.try_call(1.5F).value().whole, 1.F);
}

TEST_P(ResultsTest, SeveralTensorsAreAStruct) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{4097}}) {
        const auto x = device_.tensor<float>(eighths(size));
        const auto parts = module_.parts(x);
        static_assert(std::is_same_v<decltype(parts.whole), Tensor<float, 1>>);
        EXPECT_EQ(parts.result.to_vector(), eighths(size));
        EXPECT_EQ(parts.whole.to_vector(), std::vector<float>(size, 0));
        const auto whole = device_.empty<float>({static_cast<std::int64_t>(size)});
        EXPECT_EQ(module_.parts(x, out(whole)).to_vector(), eighths(size));
        EXPECT_EQ(whole.to_vector(), std::vector<float>(size, 0));
    }
}

TEST_P(ResultsTest, OneOutParameterIsReturned) {
    const auto total = device_.tensor<std::int32_t>({1, 2, 3});
    const auto x = device_.tensor<std::int32_t>({10, 21, 32});
    const Tensor<std::int32_t, 1> lower = module_.halves(x, total);
    EXPECT_THAT(lower.to_vector(), ElementsAre(5, 10, 16));
    EXPECT_THAT(total.to_vector(), ElementsAre(11, 23, 35)) << "inout: written in place";
    module_.halves(x, out(lower), total);
    EXPECT_THAT(total.to_vector(), ElementsAre(21, 44, 67));
}

TEST_P(ResultsTest, RecordedOutputsAreReturned) {
    Encoder encoder = device_.encoder();
    const auto parts = module_.parts.append_to(encoder, device_.tensor<float>({1.5F, -2.5F}));
    encoder.submit();
    EXPECT_THAT(parts.result.to_vector(), ElementsAre(0.5F, 0.5F));
    EXPECT_THAT(parts.whole.to_vector(), ElementsAre(1, -3));
}

TEST_P(ResultsTest, MatricesAndArrays) {
    const float2x3 m{{{1, 2, 3}, {4, 5, 6}}};
    const float3x2 turned = module_.turned(m);
    EXPECT_EQ(turned, (float3x2{{{1, 4}, {2, 5}, {3, 6}}}));
    EXPECT_THAT(module_.turned(device_.tensor<float2x3>({m, float2x3{}})).to_vector(),
                ElementsAre(turned, float3x2{}));
    const std::array<float, 4> sums = module_.running({1, 2, 3, 4});
    EXPECT_THAT(sums, ElementsAre(1, 3, 6, 10));
    using Array = std::array<float, 4>;
    EXPECT_THAT(module_.running(device_.tensor<Array>({Array{1, 1, 1, 1}, Array{0, 0, 0, 2}})).to_vector(),
                ElementsAre(Array{1, 2, 3, 4}, Array{0, 0, 0, 2}));
}

TEST_P(ResultsTest, ArraysAndMatricesInAStruct) {
    const std::array<int2, 3> x{int2{1, 2}, int2{3, 4}, int2{5, 6}};
    const auto made = module_.pairs(x);
    EXPECT_EQ(made.result, x);
    EXPECT_EQ(made.mirrored, (float2x2{{{2, 1}, {4, 3}}}));
    EXPECT_EQ(made.count, 3U);
}

}  // namespace
}  // namespace kf::test
