// Which integers are values of an enum, of each type that one is kept in.
#include "core/enum_values.h"

#include <gmock/gmock.h>
#include <kf/error.h>

#include <array>
#include <limits>
#include <span>

#include "core/host_scalars.h"

namespace kf::detail {
namespace {

template <class T>
manifest::Argument argument_of(std::vector<std::pair<std::string, std::int64_t>> members) {
    manifest::Argument argument;
    argument.name = "mode";
    argument.type = "Mode";
    argument.element.scalar = ScalarOf<T>::value;
    argument.members = std::move(members);
    return argument;
}

template <class T>
std::string refusal(const manifest::Argument& argument, std::span<const T> scalars) {
    try {
        check_enum_value("f", argument, std::as_bytes(scalars).data(), host_strides(argument));
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::value_range);
        return error.what();
    }
    return "";
}

template <class T>
std::string refusal(const manifest::Argument& argument, T scalar) {
    return refusal(argument, std::span<const T>(&scalar, 1));
}

template <class T>
class EnumValues : public testing::Test {};
using Kept = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                            std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(EnumValues, Kept);

TYPED_TEST(EnumValues, AreThoseOfTheMembers) {
    using T = TypeParam;
    constexpr T lowest = std::numeric_limits<T>::min();
    constexpr T highest = std::numeric_limits<T>::max();
    // Slang may tell the highest value as -1.
    constexpr auto as_told = static_cast<std::int64_t>(highest);
    for (const std::int64_t told : {as_told, std::is_signed_v<T> ? as_told : std::int64_t{-1}}) {
        const manifest::Argument argument =
            argument_of<T>({{"low", static_cast<std::int64_t>(lowest)}, {"high", told}});
        EXPECT_EQ(refusal(argument, lowest), "");
        EXPECT_EQ(refusal(argument, highest), "");
        EXPECT_EQ(refusal(argument, T{3}),
                  "f: argument 'mode': 3 is no value of Mode: low = " + std::to_string(lowest) +
                      ", high = " + std::to_string(highest));
    }
}

TYPED_TEST(EnumValues, AreCombinedOfFlags) {
    using T = TypeParam;
    manifest::Argument argument = argument_of<T>({{"a", 1}, {"b", 2}});
    EXPECT_NE(refusal(argument, T{3}), "");
    argument.flags = true;
    EXPECT_EQ(refusal(argument, T{3}), "");
    EXPECT_EQ(refusal(argument, T{0}), "");
    EXPECT_EQ(refusal(argument, T{5}),
              "f: argument 'mode': 5 is no value of Mode, nor are its bits: a = 1, b = 2");
}

TYPED_TEST(EnumValues, AreFoundInArraysWithGaps) {
    using T = TypeParam;
    manifest::Argument argument = argument_of<T>({{"a", 1}, {"b", 2}});
    argument.type = "Mode[2][2]";
    argument.element.extents = {2, 2};
    const std::array<T, 7> scalars{1, 9, 2, 2, 9, 3, 9};
    EXPECT_THAT(refusal<T>(argument, scalars),
                testing::HasSubstr("argument 'mode[0][1]': 9 is no value of Mode:"));
    argument.spacing = {3, 2};
    EXPECT_THAT(refusal<T>(argument, scalars),
                testing::HasSubstr("argument 'mode[1][1]': 3 is no value of Mode:"));
    // What a prepared call is given later has none, even of a field that lies apart.
    EXPECT_THROW(
        check_enum_value("f", argument, std::as_bytes(std::span(scalars)).data(), packed_strides(argument)),
        ArgumentError);
    const std::array<T, 4> packed{1, 2, 2, 1};
    EXPECT_NO_THROW(
        check_enum_value("f", argument, std::as_bytes(std::span(packed)).data(), packed_strides(argument)));
}

}  // namespace
}  // namespace kf::detail
