// Tests of how many groups a processor is said to run at once: only numbers.
#include "vulkan/residency.h"

#include <gtest/gtest.h>

namespace kf::vulkan {
namespace {

constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t subgroups = 64;

TEST(Residency, RegistersThreadsAndSharedMemoryLimitIt) {
    // What CUDA's occupancy calculator says for compute capability 9.0 and groups of 256.
    EXPECT_EQ(groups_at_once({16, 0}, 256, lanes, subgroups), 8U);
    EXPECT_EQ(groups_at_once({32, 0}, 256, lanes, subgroups), 8U);
    EXPECT_EQ(groups_at_once({33, 0}, 256, lanes, subgroups), 6U);
    EXPECT_EQ(groups_at_once({40, 0}, 256, lanes, subgroups), 6U);
    EXPECT_EQ(groups_at_once({45, 0}, 256, lanes, subgroups), 5U);
    EXPECT_EQ(groups_at_once({64, 0}, 256, lanes, subgroups), 4U);
    EXPECT_EQ(groups_at_once({255, 0}, 256, lanes, subgroups), 1U);
    EXPECT_EQ(groups_at_once({32, 0}, 33, lanes, subgroups), 32U) << "two subgroups";
    EXPECT_EQ(groups_at_once({32, 0}, 256, lanes, 48), 6U) << "a smaller processor";
    EXPECT_EQ(groups_at_once({16, 20'000}, 256, lanes, subgroups), 3U);
}

TEST(Residency, OneGroupAlwaysRunsAndNothingIsSaidOfNothing) {
    EXPECT_EQ(groups_at_once({255, 0}, 1024, lanes, subgroups), 1U);
    EXPECT_EQ(groups_at_once({16, 100'000}, 256, lanes, subgroups), 1U);
    EXPECT_EQ(groups_at_once({0, 1024}, 256, lanes, subgroups), 0U);
    EXPECT_EQ(groups_at_once({32, 0}, 256, 0, subgroups), 0U);
}

}  // namespace
}  // namespace kf::vulkan
