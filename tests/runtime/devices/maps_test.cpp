// Functions whose arguments lie in other dimensions of the call, through a generated header, on each device.
#include "maps.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MapsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    maps::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MapsTest);
INSTANTIATE_TEST_SUITE_P(Devices, MapsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(MapsTest, AVectorAlongEitherDimension) {
    const auto x = device_.tensor<float>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    const auto by_row = device_.tensor<float>({10, 100});
    const auto by_column = device_.tensor<float>({1, 10, 100}).with_grads();
    EXPECT_THAT(module_.weigh(x, by_row).to_vector(), ElementsAre(10, 20, 30, 400, 500, 600));
    const auto columns = module_.weigh.map({{"w", {1}}});
    const auto y = columns(x, by_column);
    EXPECT_THAT(y.to_vector(), ElementsAre(1, 20, 300, 4, 50, 600));
    columns.backward(x, by_column, y);
    EXPECT_THAT(by_column.grad().to_vector(), ElementsAre(5, 7, 9));
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(1, 10, 100, 1, 10, 100));
    EXPECT_THAT(columns.map({{"w", {0}}})(x, by_row).to_vector(), ElementsAre(10, 20, 30, 400, 500, 600));
    EXPECT_THAT(module_.turned.map({{"x", {1, 0}}, {"result", {0, 1}}})(x).to_vector(),
                ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_P(MapsTest, StructsAreMappedByTheirNames) {
    const auto x = device_.tensor<float>({{1, 2}, {3, 4}});
    const auto ramps = device_.tensor<maps::Ramp>({maps::Ramp{10, {0, 1}}, maps::Ramp{100, {0, 2}}});
    EXPECT_THAT(module_.ramped(x, ramps).to_vector(), ElementsAre(11, 21, 302, 402));
    const auto columns = module_.ramped.map({{"ramps", {1}}});
    EXPECT_THAT(columns(x, ramps).to_vector(), ElementsAre(11, 202, 31, 402));
    EXPECT_THAT(columns.map({{"ramps", {0}}})(x, ramps).to_vector(), ElementsAre(11, 21, 302, 402));
    const auto refusal = [&](std::string_view name) -> std::string {
        try {
            (void)module_.ramped.map({{name, {2}}});
        } catch (const ArgumentError& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_THAT(refusal("ramps"), HasSubstr("there is: ramped (x [0, 1], ramps [0], result [0, 1]), "));
    EXPECT_THAT(refusal("ramp"), HasSubstr("nothing was generated with ramp [2]"));
}

TEST_P(MapsTest, WhatWasNotGeneratedIsRefusedWithWhatWas) {
    try {
        (void)module_.weigh.map({{"w", {2}}});
        FAIL() << "nothing was thrown";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::unknown_name);
        EXPECT_THAT(error.what(), HasSubstr("weigh: map: nothing was generated with w [2]; there is: weigh "
                                            "(x [0, 1], w [0], result [0, 1]), "));
        EXPECT_THAT(error.what(),
                    HasSubstr("; its calls have rank 2, and those of another rank are a function"));
    }
}

}  // namespace
}  // namespace kf::test
