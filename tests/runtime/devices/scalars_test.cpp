// What the parameters of generated functions take of numbers: nothing is cut off silently.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "scalars.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Function, class... Given>
constexpr bool takes = std::is_invocable_v<const Function&, Given...>;

enum Plain { plain_seven = 7 };
enum class Scoped { seven = 7 };
struct ConvertsToInt {
    operator int() const { return 7; }  // NOLINT(google-explicit-constructor)
};

// No floating number becomes an integer, nothing but a bool a bool, and no pointer anything.
static_assert(!takes<scalars::KeepIntFunction, double> && !takes<scalars::KeepIntFunction, float>);
static_assert(!takes<scalars::KeepIntFunction, half> && !takes<scalars::KeepIntFunction, long double>);
static_assert(!takes<scalars::KeepInt8Function, double> && !takes<scalars::KeepUint64Function, float>);
static_assert(!takes<scalars::KeepIntFunction, bool> && !takes<scalars::KeepFloatFunction, bool>);
static_assert(!takes<scalars::KeepBoolFunction, int> && !takes<scalars::KeepBoolFunction, double>);
static_assert(!takes<scalars::KeepBoolFunction, const char*> && !takes<scalars::KeepBoolFunction, Plain>);
static_assert(!takes<scalars::KeepIntFunction, Scoped> && !takes<scalars::KeepIntFunction, std::nullptr_t>);
static_assert(!takes<scalars::ScaledFunction, const Tensor<std::int32_t, 1>&, double>);
// What is a number of the kind goes in.
static_assert(takes<scalars::KeepIntFunction, char> && takes<scalars::KeepIntFunction, std::size_t>);
static_assert(takes<scalars::KeepIntFunction, Plain> && takes<scalars::KeepIntFunction, ConvertsToInt>);
static_assert(takes<scalars::KeepFloatFunction, int> && takes<scalars::KeepFloatFunction, double>);
static_assert(takes<scalars::KeepHalfFunction, int> && takes<scalars::KeepHalfFunction, double>);
static_assert(takes<scalars::KeepDoubleFunction, float> && takes<scalars::KeepDoubleFunction, half>);
// Passed in registers, as the number itself is.
static_assert(std::is_trivially_copyable_v<ScalarArg<float>> && sizeof(ScalarArg<float>) == 8);
static_assert(std::is_trivially_copyable_v<ScalarArg<std::int32_t>> && sizeof(ScalarArg<std::int32_t>) == 8);
static_assert(ScalarArg<std::int8_t>(-128).fits() && !ScalarArg<std::int8_t>(-129).fits());
static_assert(ScalarArg<std::uint8_t>(255).fits() && !ScalarArg<std::uint8_t>(256).fits());
static_assert(!ScalarArg<std::uint32_t>(-1).fits() && !ScalarArg<std::uint64_t>(-1).fits());
static_assert(!ScalarArg<std::int64_t>(std::numeric_limits<std::uint64_t>::max()).fits());
static_assert(ScalarArg<std::int32_t>(std::int64_t{1} << 30).fits());
static_assert(!ScalarArg<std::int32_t>(std::int64_t{1} << 32).fits());

class ScalarsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    scalars::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScalarsTest);
INSTANTIATE_TEST_SUITE_P(Devices, ScalarsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(ScalarsTest, LiteralsAndExactNumbersGoIn) {
    EXPECT_EQ(module_.keep_int8(-128), -128);
    EXPECT_EQ(module_.keep_uint8(255), 255);
    EXPECT_EQ(module_.keep_int(std::int64_t{-5}), -5);
    EXPECT_EQ(module_.keep_int(std::size_t{5}), 5);
    EXPECT_EQ(module_.keep_int('A'), 65);
    EXPECT_EQ(module_.keep_int(plain_seven), 7);
    EXPECT_EQ(module_.keep_int(ConvertsToInt{}), 7);
    EXPECT_EQ(module_.keep_uint(3), 3U);
    EXPECT_EQ(module_.keep_int64(std::numeric_limits<std::int64_t>::min()),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(module_.keep_uint64(std::numeric_limits<std::uint64_t>::max()),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_TRUE(module_.keep_bool(true));
    EXPECT_EQ(module_.keep_half(3), half(3));
    EXPECT_EQ(module_.keep_half(0.1), half(0.1));
    EXPECT_EQ(module_.keep_float(3), 3.0F);
    EXPECT_EQ(module_.keep_float(0.1), 0.1F);
    EXPECT_EQ(module_.keep_double(0.1F), double{0.1F});
}

TEST_P(ScalarsTest, OverloadsStayApart) {
    EXPECT_EQ(module_.which(1), 1);
    EXPECT_EQ(module_.which(1.5), 2);
    EXPECT_EQ(module_.which(1.5F), 2);
    EXPECT_EQ(module_.which(half(1)), 2);
    EXPECT_EQ(module_.which(true), 3);
}

/// What a call throws.
template <class Call>
std::string thrown_by(Call call) {
    try {
        call();
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::value_range);
        return error.what();
    }
    return "nothing";
}

TEST_P(ScalarsTest, IntegersThatDontFitAreRefusedBeforeTheCall) {
    EXPECT_EQ(thrown_by([&] { (void)module_.keep_int8(128); }),
              "keep_int8: argument 'x': the number given doesn't fit int8_t (-128 to 127)");
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_uint8(-1); }),
                HasSubstr("doesn't fit uint8_t (0 to 255)"));
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_int(std::size_t{1} << 31U); }), HasSubstr("fit int"));
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_uint(-1); }), HasSubstr("fit uint"));
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_uint64(-1); }),
                HasSubstr("fit uint64_t (0 to 18446744073709551615)"));
    const auto x = device_.tensor<std::int32_t>({1, 2, 3});
    const auto y = device_.tensor<std::int32_t>({77, 77, 77});
    EXPECT_THAT(thrown_by([&] { module_.scaled(x, std::int64_t{1} << 40, kf::out(y)); }),
                HasSubstr("argument 'k'"));
    EXPECT_THAT(y.to_vector(), Each(77));
    module_.scaled(x, std::int64_t{4}, kf::out(y));
    EXPECT_THAT(y.to_vector(), ElementsAre(4, 8, 12)) << "a good call after a bad one";
    EXPECT_THAT(thrown_by([&] { module_.scaled(x, std::int64_t{1} << 40, kf::out(y)); }),
                HasSubstr("argument 'k'"))
        << "a bad call after a good one";
}

TEST_P(ScalarsTest, FloatsThatWouldBecomeInfiniteAreRefused) {
    double large = 1e300;
    EXPECT_EQ(
        thrown_by([&] { (void)module_.keep_float(large); }),
        "keep_float: argument 'x': the number given doesn't fit float (-3.4028235e+38 to 3.4028235e+38)");
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_float(-1e39); }), HasSubstr("doesn't fit float"));
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_half(70000); }),
                HasSubstr("doesn't fit half (-65504 to 65504)"));
    EXPECT_THAT(thrown_by([&] { (void)module_.keep_half(7e4F); }), HasSubstr("doesn't fit half"));
    EXPECT_EQ(module_.keep_float(3e38), 3e38F);
    EXPECT_EQ(module_.keep_double(large), large);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(module_.keep_float(-infinity), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isinf(module_.keep_half(infinity)));
    EXPECT_TRUE(std::isnan(module_.keep_float(std::nan(""))));
}

TEST_P(ScalarsTest, TwinsReturnTheError) {
    const Result<std::int8_t> result = module_.keep_int8.try_call(1000);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), ErrorCode::value_range);
    EXPECT_EQ(module_.keep_int8.try_call(100).value(), 100);
}

}  // namespace
}  // namespace kf::test
