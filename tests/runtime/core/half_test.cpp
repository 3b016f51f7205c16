// kf::half against the definition of rounding.
#include <kf/half.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using kf::half;

TEST(Half, ConvertsBackAndForth) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const half value = half::from_bits(static_cast<std::uint16_t>(bits));
        const auto wide = static_cast<float>(value);
        if (std::isnan(wide)) {
            EXPECT_TRUE(std::isnan(static_cast<float>(half(wide))));
        } else {
            EXPECT_EQ(half(wide).bits(), bits);
        }
    }
}

/// Rounds to the nearest multiple of the spacing at this magnitude.
double reference(double value) {
    if (value == 0.0 || std::isinf(value)) {
        return value;
    }
    const int exponent = std::max(std::ilogb(value), -14);
    const double spacing = std::ldexp(1.0, exponent - 10);
    const double rounded = std::nearbyint(value / spacing) * spacing;
    return std::abs(rounded) > 65504.0 ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                       : rounded;
}

TEST(Half, RoundsToNearestEven) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-30, 17);
    for (int i = 0; i < 200000; ++i) {
        const double value = std::exp2(exponent(random)) * ((i & 1) != 0 ? -1.0 : 1.0);
        const auto narrow = static_cast<float>(value);
        EXPECT_EQ(static_cast<double>(static_cast<float>(half(narrow))),
                  reference(static_cast<double>(narrow)))
            << value;
        EXPECT_EQ(static_cast<double>(static_cast<float>(half(value))), reference(value)) << value;
    }
    for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {  // exactly between two halves
        const auto low = static_cast<double>(static_cast<float>(half::from_bits(bits)));
        const auto high =
            static_cast<double>(static_cast<float>(half::from_bits(static_cast<std::uint16_t>(bits + 1))));
        const double middle = (low + high) / 2;
        EXPECT_EQ(half(static_cast<float>(middle)).bits(), bits + (bits & 1));
        EXPECT_EQ(half(std::nextafter(middle, 1e9)).bits(), bits + 1);
        EXPECT_EQ(half(std::nextafter(middle, -1e9)).bits(), bits);
    }
}

TEST(Half, KeepsSpecialValues) {
    EXPECT_EQ(half(std::numeric_limits<float>::infinity()).bits(), 0x7c00);
    EXPECT_EQ(half(-1e6F).bits(), 0xfc00);
    EXPECT_EQ(half(-0.F).bits(), 0x8000);
    EXPECT_TRUE(std::isnan(static_cast<float>(half(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
