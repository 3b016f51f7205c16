// Enums through a generated header, on each device: each is a class, and other integers are refused.
#include "enums.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "testing.h"

namespace kf::test {
namespace {

using enums::Channels;
using enums::Color;
using enums::Lamp;
using enums::Largest;
using enums::Part;
using enums::Small;
using enums::Tiny;
using enums::Wide;
using enum Color;

static_assert(std::is_same_v<std::underlying_type_t<Color>, std::int32_t> && static_cast<int>(blue) == -7);
static_assert(std::is_same_v<std::underlying_type_t<Small>, std::uint8_t>);
static_assert(std::is_same_v<std::underlying_type_t<Wide>, std::int64_t>);
static_assert(std::is_same_v<std::underlying_type_t<Lamp>, std::uint16_t>);
static_assert(std::is_same_v<std::underlying_type_t<Tiny>, std::int8_t>);
static_assert(std::is_same_v<std::underlying_type_t<Largest>, std::uint64_t>);
static_assert(static_cast<std::uint64_t>(Largest::top) == std::numeric_limits<std::uint64_t>::max());

class EnumsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    enums::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EnumsTest);
INSTANTIATE_TEST_SUITE_P(Devices, EnumsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

constexpr std::array enum_sizes{0UL, 1UL, 31UL, 33UL, 4097UL};

std::vector<Color> colors_of(std::size_t count) {
    std::vector<Color> colors(count);
    for (std::size_t i = 0; i < count; ++i) colors[i] = std::array{red, green, blue}.at(i * i % 3);
    return colors;
}

Color turned(Color color) { return color == red ? green : color == green ? blue : red; }

TEST_P(EnumsTest, Values) {
    EXPECT_EQ(module_.turned_color(green), blue);
    EXPECT_EQ(module_.turned_wide(Wide::low), Wide::high);
    EXPECT_EQ(module_.turned_tiny(Tiny::more), Tiny::less);
    EXPECT_EQ(module_.toggled(Small::some), Small::none);
    EXPECT_EQ(module_.toggled_lamp(Lamp::off), Lamp::on);
    EXPECT_EQ(module_.turned_largest(Largest::bottom), Largest::top);
    EXPECT_EQ(module_.mirrored({red, green, blue}), (std::array<Color, 3>{blue, green, red}));
    EXPECT_EQ(module_.chosen_color(red), 1);
    EXPECT_EQ(module_.chosen_int(0), 2);
    EXPECT_EQ(module_.made(blue, 2.F).color, blue);
}

template <class Call>
std::string enum_refusal(Call call) {
    try {
        call();
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::value_range);
        return error.what();
    }
    return "not refused";
}

TEST_P(EnumsTest, OtherValuesAreRefused) {
    const std::string members = " is no value of Color: red = 0, green = 5, blue = -7";
    const auto color = static_cast<Color>(3);
    for (int i = 0; i < 3; ++i) {  // a call that is known is checked as the first one
        EXPECT_EQ(enum_refusal([&] { (void)module_.turned_color(color); }),
                  "turned_color: argument 'color': 3" + members);
        EXPECT_EQ(module_.turned_color(red), green);
    }
    EXPECT_EQ(enum_refusal([&] {
                  (void)module_.mirrored({red, color, blue});
              }),
              "mirrored: argument 'colors[1]': 3" + members);
    Part part{{Small::none, Small::none, Small::none}, 1.F, color};
    EXPECT_EQ(enum_refusal([&] { (void)module_.worth(part); }), "worth: argument 'part.color': 3" + members);
    part = {{Small::none, Small::none, static_cast<Small>(201)}, 1.F, red};
    EXPECT_EQ(enum_refusal([&] { (void)module_.worth(part); }),
              "worth: argument 'part.smalls[2]': 201 is no value of Small: none = 0, some = 200");
    auto x = device_.tensor<float>({1.F}).with_grads();
    EXPECT_EQ(enum_refusal([&] { module_.weighed.backward(color, x, {}); }),
              "weighed: argument 'color': 3" + members);
    auto prepared = module_.weighed.prepare(green, device_.tensor<float>({2.F}));
    prepared.set("color", blue);
    EXPECT_EQ(enum_refusal([&] { prepared.set("color", color); }), "weighed: argument 'color': 3" + members);
}

TEST_P(EnumsTest, Flags) {
    EXPECT_EQ(static_cast<int>(Channels::alpha), 8);
    EXPECT_EQ(module_.inverted(Channels::red | Channels::alpha), Channels::green | Channels::blue);
    EXPECT_EQ(module_.inverted(Channels{}),
              Channels::red | Channels::green | Channels::blue | Channels::alpha);
    EXPECT_EQ(enum_refusal([&] { (void)module_.inverted(static_cast<Channels>(16)); }),
              "inverted: argument 'channels': 16 is no value of Channels, nor are its bits: red = 1, "
              "green = 2, blue = 4, alpha = 8");
}

TEST_P(EnumsTest, TensorsInTheMiddleOfABuffer) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        std::vector<Color> expected(size + 7, static_cast<Color>(77));
        const std::vector<Color> given = colors_of(size);
        const auto whole = device_.tensor<Color>(expected);
        module_.turned_color(device_.tensor<Color>(given),
                             out(whole.slice(0, 3, 3 + static_cast<std::int64_t>(size))));
        std::transform(given.begin(), given.end(), expected.begin() + 3, turned);
        EXPECT_EQ(whole.to_vector(), expected);
    }
}

TEST_P(EnumsTest, GradientsBesideThem) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        const std::vector<Color> colors = colors_of(size);
        std::vector<float> numbers(size);
        std::vector<float> expected(size);
        for (std::size_t i = 0; i < size; ++i) {
            numbers[i] = static_cast<float>(i % 16) / 8 - 1;
            expected[i] = colors[i] == green ? 2 * numbers[i] : 3;
        }
        auto x = device_.tensor<float>(numbers).with_grads();
        module_.weighed.backward(device_.tensor<Color>(colors), x, {});
        EXPECT_EQ(x.grad().to_vector(), expected);
    }
}

TEST_P(EnumsTest, FieldsOfStructs) {
    for (const std::size_t size : enum_sizes) {
        SCOPED_TRACE(size);
        const std::vector<Color> colors = colors_of(size);
        std::vector<Part> parts(size);
        std::vector<float> worth(size);
        for (std::size_t i = 0; i < size; ++i) {
            parts[i] = {{Small::none, Small::some, i % 2 == 0 ? Small::some : Small::none},
                        static_cast<float>(i % 16),
                        colors[i]};
            worth[i] = i % 2 == 0 ? parts[i].weight * parts[i].weight : parts[i].weight;
        }
        EXPECT_EQ(module_.worth(device_.tensor<Part>(parts)).to_vector(), worth);
        const std::vector<Part> made = module_.made(device_.tensor<Color>(colors), 2.5F).to_vector();
        ASSERT_EQ(made.size(), size);
        for (std::size_t i = 0; i < size; ++i)
            EXPECT_EQ(made[i], (Part{{Small::none, Small::some, Small::none}, 2.5F, colors[i]}));
    }
}

TEST_P(EnumsTest, TensorsThatAreParameters) {
    const std::vector<Color> given = colors_of(4097);
    const auto tensor = device_.tensor<Color>(given);
    EXPECT_EQ(module_.matches(tensor, green), std::count(given.begin(), given.end(), green));
    std::vector<Small> smalls(given.size());
    std::vector<Color> expected = given;
    for (std::size_t i = 0; i < smalls.size(); i += 3) {
        smalls[i] = Small::some;
        expected[i] = blue;
    }
    module_.paint(tensor, device_.tensor<Small>(smalls), Range{0, 4097});
    EXPECT_EQ(tensor.to_vector(), expected);
}

}  // namespace
}  // namespace kf::test
