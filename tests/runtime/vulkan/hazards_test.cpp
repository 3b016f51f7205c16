// Tests of hazard tracking.
#include "vulkan/hazards.h"

#include <gtest/gtest.h>

#include <array>

namespace kf::vulkan {
namespace {

TEST(Hazards, OnlyReadsCommute) {
    const std::array<char, 2> memory{};
    const void* a = &memory[0];
    const void* b = &memory[1];
    Hazards hazards;
    EXPECT_FALSE(hazards.conflicts(a, true));
    hazards.note(a, false);
    EXPECT_FALSE(hazards.conflicts(a, false)) << "read after read";
    EXPECT_TRUE(hazards.conflicts(a, true)) << "write after read";
    hazards.note(b, true);
    EXPECT_TRUE(hazards.conflicts(b, false)) << "read after write";
    EXPECT_TRUE(hazards.conflicts(b, true)) << "write after write";
    hazards.note(a, true);
    EXPECT_TRUE(hazards.conflicts(a, false)) << "a command that reads and writes has written";
    hazards.note(a, false);
    EXPECT_TRUE(hazards.conflicts(a, false)) << "a later read doesn't undo the write";
    hazards.clear();
    EXPECT_FALSE(hazards.conflicts(a, true));
    EXPECT_FALSE(hazards.conflicts(b, true));
}

TEST(Hazards, GrowsAndForgets) {
    std::array<char, 5000> memory{};
    Hazards hazards;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < memory.size(); ++i) {
            ASSERT_FALSE(hazards.conflicts(&memory[i], true));
            hazards.note(&memory[i], i % 2 == 0);
        }
        for (std::size_t i = 0; i < memory.size(); ++i) {
            ASSERT_EQ(hazards.conflicts(&memory[i], false), i % 2 == 0);
            ASSERT_TRUE(hazards.conflicts(&memory[i], true));
        }
        hazards.clear();
    }
}

}  // namespace
}  // namespace kf::vulkan
