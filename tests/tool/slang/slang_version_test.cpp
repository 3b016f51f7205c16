// Which releases build tags name, and which come first.
#include "slang/slang_version.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(SlangVersions, AreReadFromTags) {
    EXPECT_EQ(slang_version("2026.12"), (SlangVersion{2026, 12, 0}));
    EXPECT_EQ(slang_version("v2026.12"), (SlangVersion{2026, 12, 0}));
    EXPECT_EQ(slang_version("2026.14.1"), (SlangVersion{2026, 14, 1}));
    EXPECT_EQ(slang_version("v2025.24.3-17-g1a2b3c4"), (SlangVersion{2025, 24, 3}));
    EXPECT_EQ(slang_version("2026.5-dirty"), (SlangVersion{2026, 5, 0}));
}

TEST(SlangVersions, AreNothingInOtherTags) {
    for (const char* tag : {"", "v", "unknown", "2026", "2026.", "2026.x", "2026.12.", "2026.12.1.0",
                            "2026.12x", "-1.2", "2026.-1", "99999999999.1", "g1a2b3c4", "v2026.12 "}) {
        EXPECT_EQ(slang_version(tag), std::nullopt) << tag;
    }
}

TEST(SlangVersions, HaveAnOrder) {
    EXPECT_LT((SlangVersion{2025, 24, 3}), (SlangVersion{2026, 2, 0}));
    EXPECT_LT((SlangVersion{2026, 5, 2}), (SlangVersion{2026, 12, 0}));
    EXPECT_LT((SlangVersion{2026, 12, 0}), (SlangVersion{2026, 12, 2}));
    EXPECT_EQ(to_string({2026, 12, 0}), "2026.12");
    EXPECT_EQ(to_string({2026, 12, 2}), "2026.12.2");
}

}  // namespace
}  // namespace kf::gen
