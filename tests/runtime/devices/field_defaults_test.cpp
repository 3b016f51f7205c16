// Structs of generated headers whose fields have values in Slang, on each device.
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "field_defaults.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;

TEST(FieldDefaultsTest, StructsHaveThem) {
    const field_defaults::Settings made;
    EXPECT_EQ(made.rate, 0);
    EXPECT_EQ(made.beta, 0.9F);
    EXPECT_EQ(made.least, -0.5F);
    EXPECT_EQ(made.exact, 1e-300);
    EXPECT_EQ(static_cast<float>(made.small), 0.5F);
    EXPECT_EQ(made.byte, -128);
    EXPECT_EQ(made.large, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(made.lowest, std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(made.on);
    EXPECT_EQ(static_cast<int>(made.mode), 7);
    EXPECT_EQ(made.up, (float3{0, 1, 0}));
    EXPECT_EQ(made.turn, (float2x2{{{1, 2}, {3, 4}}}));
    EXPECT_THAT(made.weights, ElementsAre(1, 2, 3));
    EXPECT_EQ(made.inner, (field_defaults::Inner{{2, 3}, 3}));
    EXPECT_EQ(made.other, (field_defaults::Inner{{4, 5}, 6}));
    EXPECT_EQ((field_defaults::Adam{2}).beta, 0.9F);
    EXPECT_EQ((field_defaults::Lens{1}).gain, 0.9F);
    EXPECT_EQ((field_defaults::Lens{1}).inner.steps, 3);
}

class FieldDefaultsOnDevicesTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    field_defaults::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FieldDefaultsOnDevicesTest);
INSTANTIATE_TEST_SUITE_P(Devices, FieldDefaultsOnDevicesTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(FieldDefaultsOnDevicesTest, WhatIsGivenFieldByFieldHasThem) {
    const auto x = device_.tensor<float>({1, 2, 3}).with_grads();
    const field_defaults::AdamFields adam{x};
    EXPECT_EQ(adam.beta, 0.9F);
    EXPECT_EQ((field_defaults::AdamFields{x, 0.5F}).rate, 0.5F);
    const auto stepped = module_.stepped(adam, 10).to_vector();
    for (std::size_t i = 0; i < stepped.size(); ++i)
        EXPECT_FLOAT_EQ(stepped[i], static_cast<float>(i + 1) - 0.9F);
    EXPECT_FLOAT_EQ(module_.stepped(field_defaults::Adam{2}, 10), 1.1F);
}

TEST_P(FieldDefaultsOnDevicesTest, ConstructorsOfWhatHoldsTensorsSetThem) {
    const auto weights = device_.tensor<float>({0, 1, 2, 3, 4});
    const auto at = device_.tensor<std::uint32_t>({0, 2});
    EXPECT_THAT(module_.Layer_at(field_defaults::LayerFields{weights}, at).to_vector(), ElementsAre(12, 16));
    EXPECT_THAT((field_defaults::LayerFields{weights, 1.F}.at(module_, at).to_vector()), ElementsAre(11, 13));
}

}  // namespace
}  // namespace kf::test
