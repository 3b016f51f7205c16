// Tests how backward calls take host values: as the calls themselves do, braces included.
#include <kf/dual.h>
#include <kf/half.h>
#include <kf/matrix.h>
#include <kf/value.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

TEST(DiffArg, RefusesATemporaryThatNobodyCouldRead) {
    EXPECT_TRUE((std::is_convertible_v<Diff<float3>&, DiffArg<float3>>));
    EXPECT_FALSE((std::is_convertible_v<Diff<float3>, DiffArg<float3>>));
    EXPECT_FALSE((std::is_convertible_v<Diff<float>, DiffArg<float>>));
    EXPECT_FALSE((std::is_convertible_v<const Diff<float>&, DiffArg<float>>));
}

/// The value and what flows in; 0 where nothing does.
float flowing(OutputArg<float> value = {}) {
    return value.value() + (value.gradient() == nullptr ? 0 : *value.gradient());
}

TEST(OutputArg, ReadsATemporary) {
    Diff<float> named{1, 10};
    EXPECT_EQ(flowing(), 0);
    EXPECT_EQ(flowing(2), 2);
    EXPECT_EQ(flowing(named), 11);
    EXPECT_EQ(flowing(Diff<float>{2, 20}), 22);
    EXPECT_FALSE(OutputArg<float>(1e300).fits());
}

TEST(DiffArg, SaysWhichNumbersDontFit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(DiffArg<float>(1e300).fits());
    EXPECT_FALSE(DiffArg<float>(-4e38L).fits());
    EXPECT_FALSE(DiffArg<half>(70000).fits());
    EXPECT_FALSE((DiffArg<float3>{1.0, 1e39, 2}.fits()));
    EXPECT_FALSE((DiffArg<half2>{1.F, 65520.F}.fits()));
    EXPECT_TRUE((DiffArg<float3>{1.0, -3e38, 2}.fits()));
    EXPECT_TRUE(DiffArg<float>(infinity).fits());
    EXPECT_EQ(DiffArg<float>(-infinity).value(), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(DiffArg<float>(std::nan("")).fits());
    EXPECT_TRUE(std::isnan(DiffArg<float>(std::nan("")).value()));
    EXPECT_TRUE(DiffArg<double>(1e300).fits());
    EXPECT_TRUE(DiffArg<float>(std::numeric_limits<std::uint64_t>::max()).fits());
    EXPECT_FALSE((std::is_constructible_v<DiffArg<float>, bool>));
    EXPECT_THROW((Dual<float>{1e300}), ArgumentError);
    EXPECT_THROW((Dual<float>{1, -1e300}), ArgumentError);
    EXPECT_EQ((Dual<float>{1, infinity}.tangent), std::numeric_limits<float>::infinity());
}

// A number is the nearest one of its type, and none where the nearest is infinite.
constexpr double last_float = 0x1.fffffefffffffp127;
static_assert(ScalarArg<float>(last_float).fits() &&
              ScalarArg<float>(last_float).value() == std::numeric_limits<float>::max());
static_assert(!ScalarArg<float>(0x1.ffffffp127).fits() && !ScalarArg<float>(-0x1.ffffffp127).fits());
static_assert(ScalarArg<half>(65519.99).fits() && ScalarArg<half>(65519.99).value() == 65504.F);
static_assert(!ScalarArg<half>(65520).fits() && !ScalarArg<half>(-65520.F).fits());
static_assert(ScalarArg<half>(std::numeric_limits<float>::infinity()).fits());
static_assert(ScalarArg<double>(1e308L).fits() && ScalarArg<double>(3.F).fits());

TEST(Diff, RefusesANumberThatDoesntFit) {
    const double large = 1e300;
    EXPECT_THROW(Diff<float>{large}, ArgumentError);
    EXPECT_THROW((Diff<float>{1.0, -large}), ArgumentError);
    EXPECT_THROW(Diff<half>{70000}, ArgumentError);
    EXPECT_EQ((Diff<double>{large, 2}.value), large);
    EXPECT_EQ((Diff<float>{2, 20.0}.grad), 20);
    EXPECT_EQ((Diff{float3{1, 2, 3}}.value), (float3{1, 2, 3}));
}

// What has no derivative has no Diff: such a declaration doesn't compile.
static_assert(detail::is_discrete<int> && detail::is_discrete<bool> && detail::is_discrete<int3>);
static_assert(detail::is_discrete<std::array<bool2, 3>> && detail::is_discrete<ErrorCode>);
static_assert(detail::is_discrete<Matrix<int, 2, 3>> && !detail::is_discrete<float2x3>);
static_assert(!detail::is_discrete<half> && !detail::is_discrete<std::array<float3, 2>>);

}  // namespace
}  // namespace kf
