// What kernels report, as the host reads it.
#include "core/reports.h"

#include <bit>

#include <gtest/gtest.h>

#include "core/records.h"

namespace {

using namespace kf;
using detail::formatted;

using Words = std::vector<std::uint32_t>;

/// One value as kernels report it.
Words value(ScalarType type, const std::vector<std::uint64_t>& numbers) {
    Words words{static_cast<std::uint32_t>(type) | static_cast<std::uint32_t>(numbers.size()) << 8U};
    for (const std::uint64_t bits : numbers) {
        words.push_back(static_cast<std::uint32_t>(bits));
        words.push_back(static_cast<std::uint32_t>(bits >> 32U));
    }
    return words;
}

std::uint64_t bits(float number) { return std::bit_cast<std::uint32_t>(number); }

TEST(Reports, FormatNumbersAsPrintfDoes) {
    EXPECT_EQ(formatted("100%%\n", {}), "100%\n");
    EXPECT_EQ(formatted("[%5d]", value(ScalarType::int32, {0xFFFF'FFFEU})), "[   -2]");
    EXPECT_EQ(formatted("%u", value(ScalarType::int32, {0xFFFF'FFFEU})), "4294967294");
    EXPECT_EQ(formatted("%x", value(ScalarType::int8, {0xFFFF'FFFFU})), "ff");
    EXPECT_EQ(formatted("%d", value(ScalarType::uint8, {200})), "200");
    EXPECT_EQ(formatted("%lld", value(ScalarType::int64, {~std::uint64_t{0}})), "-1");
    EXPECT_EQ(formatted("%llu", value(ScalarType::uint64, {~std::uint64_t{0}})), "18446744073709551615");
    EXPECT_EQ(formatted("%.2f", value(ScalarType::float32, {bits(1.5F)})), "1.50");
    EXPECT_EQ(formatted("%g", value(ScalarType::float64, {std::bit_cast<std::uint64_t>(1e300)})), "1e+300");
    EXPECT_EQ(formatted("%c%%", value(ScalarType::int32, {65})), "A%");
}

TEST(Reports, FormatEachComponentOfVectors) {
    EXPECT_EQ(formatted("(%g)", value(ScalarType::float32, {bits(1), bits(2.5F), bits(-3)})), "(1, 2.5, -3)");
    EXPECT_EQ(formatted("%v2d|", value(ScalarType::int32, {1, 2})), "1, 2|");
}

TEST(Reports, FormatSeveralInOrder) {
    Words words = value(ScalarType::int32, {1});
    const Words more = value(ScalarType::float32, {bits(2)});
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(formatted("%d and %g, done", words), "1 and 2, done");
}

TEST(Reports, RecordLiesAsTheLibraryHasIt) {
    const manifest::RecordLayout layout = manifest::record_layout({manifest::RecordKind::reports});
    EXPECT_EQ(layout.size(), 16);
    ASSERT_EQ(layout.members.size(), 2U);
    EXPECT_EQ(layout.members[0].name, "words");
    EXPECT_EQ(layout.members[1].offset, 8);
}

}  // namespace
