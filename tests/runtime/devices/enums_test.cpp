// Enums through a generated header: the host passes the integers that they are kept in, on each device.
#include "enums.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "testing.h"

namespace kf::test {
namespace {

using enums::Part;

constexpr std::int32_t red = 0;
constexpr std::int32_t green = 5;
constexpr std::int32_t blue = -7;
constexpr std::uint8_t some_value = 200;

class EnumsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    enums::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EnumsTest);
INSTANTIATE_TEST_SUITE_P(Devices, EnumsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

constexpr std::array enum_sizes{0UL, 1UL, 31UL, 33UL, 4097UL};

std::vector<std::int32_t> colors_of(std::size_t count) {
    std::vector<std::int32_t> colors(count);
    for (std::size_t i = 0; i < count; ++i) colors[i] = std::array{red, green, blue}.at(i * i % 3);
    return colors;
}

std::int32_t turned(std::int32_t color) { return color == red ? green : color == green ? blue : red; }

TEST_P(EnumsTest, Values) {
    EXPECT_EQ(module_.turned_color(green), blue);
    EXPECT_EQ(module_.turned_wide(std::int64_t{-1}), std::int64_t{1} << 32);
    EXPECT_EQ(module_.turned_tiny(std::int8_t{127}), -128);
    EXPECT_EQ(module_.toggled(some_value), 0);
    EXPECT_EQ(module_.toggled_lamp(std::uint16_t{0}), 40000);
    EXPECT_EQ(module_.mirrored({red, green, blue}), (std::array<std::int32_t, 3>{blue, green, red}));
    EXPECT_EQ(module_.chosen_color(red), 1);
    EXPECT_EQ(module_.chosen_int(red), 2);
    EXPECT_EQ(module_.made(blue, 2.F).color, blue);
}

TEST_P(EnumsTest, TensorsInTheMiddleOfABuffer) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        std::vector<std::int32_t> expected(size + 7, 77);
        const std::vector<std::int32_t> given = colors_of(size);
        const auto whole = device_.tensor<std::int32_t>(expected);
        module_.turned_color(device_.tensor<std::int32_t>(given),
                             out(whole.slice(0, 3, 3 + static_cast<std::int64_t>(size))));
        std::transform(given.begin(), given.end(), expected.begin() + 3, turned);
        EXPECT_EQ(whole.to_vector(), expected);
    }
}

TEST_P(EnumsTest, GradientsBesideThem) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        const std::vector<std::int32_t> colors = colors_of(size);
        std::vector<float> numbers(size);
        std::vector<float> expected(size);
        for (std::size_t i = 0; i < size; ++i) {
            numbers[i] = static_cast<float>(i % 16) / 8 - 1;
            expected[i] = colors[i] == green ? 2 * numbers[i] : 3;
        }
        auto x = device_.tensor<float>(numbers).with_grads();
        module_.weighed.backward(device_.tensor<std::int32_t>(colors), x, {});
        EXPECT_EQ(x.grad().to_vector(), expected);
    }
}

TEST_P(EnumsTest, FieldsOfStructs) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        const std::vector<std::int32_t> colors = colors_of(size);
        std::vector<Part> parts(size);
        std::vector<float> worth(size);
        for (std::size_t i = 0; i < size; ++i) {
            parts[i] = {
                {0, 1, i % 2 == 0 ? some_value : std::uint8_t{0}}, static_cast<float>(i % 16), colors[i]};
            worth[i] = i % 2 == 0 ? parts[i].weight * parts[i].weight : parts[i].weight;
        }
        EXPECT_EQ(module_.worth(device_.tensor<Part>(parts)).to_vector(), worth);
        const std::vector<Part> made = module_.made(device_.tensor<std::int32_t>(colors), 2.5F).to_vector();
        ASSERT_EQ(made.size(), size);
        for (std::size_t i = 0; i < size; ++i)
            EXPECT_EQ(made[i], (Part{{0, some_value, 0}, 2.5F, colors[i]}));
    }
}

TEST_P(EnumsTest, TensorsThatAreParameters) {
    const std::vector<std::int32_t> given = colors_of(4097);
    const auto tensor = device_.tensor<std::int32_t>(given);
    EXPECT_EQ(module_.matches(tensor, green), std::count(given.begin(), given.end(), green));
    std::vector<std::uint8_t> smalls(given.size());
    std::vector<std::int32_t> expected = given;
    for (std::size_t i = 0; i < smalls.size(); i += 3) {
        smalls[i] = some_value;
        expected[i] = blue;
    }
    module_.paint(tensor, device_.tensor<std::uint8_t>(smalls), Range{0, 4097});
    EXPECT_EQ(tensor.to_vector(), expected);
}

}  // namespace
}  // namespace kf::test
