// Overlap of strided views, against counting every byte.
#include "core/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace {

using kf::Dims;
using kf::detail::Footprint;

std::multiset<std::uint64_t> bytes_of(const Footprint& footprint) {
    std::multiset<std::uint64_t> result;
    if (std::find(footprint.extents.begin(), footprint.extents.end(), 0) != footprint.extents.end()) {
        return result;
    }
    Dims index(footprint.extents.size(), 0);
    for (;;) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < index.size(); ++d) {
            at += index[d] * footprint.strides[d];
        }
        for (std::int64_t b = 0; b < footprint.size; ++b) {
            result.insert(footprint.address + static_cast<std::uint64_t>(at + b));
        }
        std::size_t d = index.size();
        while (d > 0 && ++index[d - 1] == footprint.extents[d - 1]) {
            index[--d] = 0;
        }
        if (d == 0) {
            return result;
        }
    }
}

TEST(Overlap, AgreesWithCounting) {
    std::mt19937 random(7);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    int overlapping = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto make = [&] {
            Footprint footprint{static_cast<std::uint64_t>(1000 + pick(-40, 40)), 1 << pick(0, 2), {}, {}};
            for (int d = pick(0, 3); d > 0; --d) {
                footprint.extents.push_back(pick(0, 19) == 0 ? 0 : pick(1, 4));
                footprint.strides.push_back(pick(-6, 6) * footprint.size);
            }
            return footprint;
        };
        const Footprint a = make();
        const Footprint b = make();
        const auto bytes = bytes_of(a);
        bool shared = false;
        for (const std::uint64_t byte : bytes_of(b)) {
            shared = shared || bytes.contains(byte);
        }
        overlapping += shared ? 1 : 0;
        ASSERT_EQ(kf::detail::may_overlap(a, b), shared) << round;
        Dims strides = a.strides;
        for (std::size_t d = 0; d < strides.size(); ++d) {
            strides[d] /= a.size;
        }
        const std::set<std::uint64_t> distinct(bytes.begin(), bytes.end());
        if (distinct.size() != bytes.size()) {
            ASSERT_TRUE(kf::detail::may_repeat(a.extents, strides)) << round;
        }
    }
    EXPECT_GT(overlapping, 1000);
    EXPECT_LT(overlapping, 19000);
}

TEST(Overlap, KnowsDenseViews) {
    using kf::detail::is_dense;
    EXPECT_TRUE(is_dense({2, 3}, {3, 1}));
    EXPECT_TRUE(is_dense({2, 1, 3}, {3, 77, 1}));
    EXPECT_TRUE(is_dense({}, {}));
    EXPECT_TRUE(is_dense({3, 0}, {1, 1}));
    EXPECT_FALSE(is_dense({2, 3}, {4, 1}));
    EXPECT_FALSE(is_dense({3, 2}, {1, 3}));
    EXPECT_FALSE(is_dense({4}, {0}));
    EXPECT_FALSE(is_dense({4}, {-1}));
}

TEST(Overlap, DoesNotCallTransposedSlicesRepeating) {
    EXPECT_FALSE(kf::detail::may_repeat({3, 2, 5}, {2, -40, 8}));
    EXPECT_TRUE(kf::detail::may_repeat({3, 2}, {0, 1}));
    EXPECT_TRUE(kf::detail::may_repeat({3, 3}, {1, 1}));
    EXPECT_FALSE(kf::detail::may_repeat({0, 3}, {0, 1}));
}

TEST(Overlap, ReachesFromTheLowestElementToTheEndOfTheHighest) {
    using kf::detail::reach_of;
    const auto whole = reach_of({2, 3}, {3, 1}, 4, 4);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->before, 0U);
    EXPECT_EQ(whole->size, 24U);
    const auto turned = reach_of({3, 2}, {-10, 2}, 1, 8);
    ASSERT_TRUE(turned);
    EXPECT_EQ(turned->before, 20U);
    EXPECT_EQ(turned->size, 30U);
    EXPECT_EQ(reach_of({}, {}, 4, 4)->size, 4U);
    EXPECT_EQ(reach_of({5}, {0}, 4, 4)->size, 4U);
    EXPECT_FALSE(reach_of({3}, {INT64_MAX / 4}, 4, 4));
    EXPECT_FALSE(reach_of({2, 2}, {INT64_MAX / 4, INT64_MAX / 4}, 4, 4));
}

}  // namespace
