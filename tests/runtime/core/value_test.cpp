// Tests how backward calls take host values: as the calls themselves do, braces included.
#include <kf/half.h>
#include <kf/matrix.h>
#include <kf/value.h>

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace kf {
namespace {

// A vector's overloads, as generated functions have them.
float3 taken(DiffArg<float3> value) { return value.value(); }
float2 taken(DiffArg<float2> value) { return value.value(); }
float taken(DiffArg<float> value) { return value.value(); }

template <class T>
T held(DiffArg<T> value) {
    return value.value();
}

TEST(DiffArg, TakesBracesAsTheCallDoes) {
    const int whole = 2;
    const double real = 2.5;
    EXPECT_EQ(taken({1, whole, real}), (float3{1, 2, 2.5F}));
    EXPECT_EQ(taken({1, 2}), (float2{1, 2}));
    EXPECT_EQ(taken(1), 1);
    EXPECT_EQ((held<std::array<float, 5>>({1, 2, 3, 4, 5})), (std::array<float, 5>{1, 2, 3, 4, 5}));
    EXPECT_EQ((held<std::array<float3, 2>>({float3{1, 2, 3}, float3{4, 5, 6}})[1]), (float3{4, 5, 6}));
    EXPECT_EQ((held<half2>({1, 2.5})), (half2{half(1), half(2.5F)}));
    EXPECT_EQ((held<std::array<half2, 2>>({half2{}, half2{half(1), half(7)}})[1].y), half(7));
    EXPECT_EQ((held<float2x2>(float2x2{{{1, 2}, {3, 4}}})[1][0]), 3);
}

TEST(DiffArg, KeepsToItsLength) {
    EXPECT_TRUE((std::is_constructible_v<DiffArg<float3>, float, double, int>));
    EXPECT_FALSE((std::is_constructible_v<DiffArg<float3>, float, float>));
    EXPECT_FALSE((std::is_constructible_v<DiffArg<float3>, float, float, float, float>));
    EXPECT_FALSE((std::is_constructible_v<DiffArg<float3>, float, float, bool>));
    EXPECT_FALSE((std::is_constructible_v<DiffArg<float>, float, float>));
    EXPECT_FALSE((std::is_constructible_v<DiffArg<int2>, long, long>))
        << "nothing would say what doesn't fit";
}

TEST(DiffArg, RefersToTheGradientOfADiff) {
    Diff value{float3{1, 2, 3}};
    DiffArg<float3> argument = value;
    EXPECT_EQ(argument.gradient(), &value.grad);
    EXPECT_EQ((DiffArg<float3>{1, 2, 3}.gradient()), nullptr);
    EXPECT_EQ(DiffArg<float3>().value(), float3{});
}

}  // namespace
}  // namespace kf
