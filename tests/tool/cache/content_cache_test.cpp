// Bytes kept between runs: found again, or not at all.
#include "cache/content_cache.h"

#include <gtest/gtest.h>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

TEST(ContentCache, KeepsBytesByKey) {
    FakeFileSystem disk;
    ContentCache cache(disk, "cache");
    EXPECT_EQ(cache.find("abcdef"), std::nullopt);
    const std::string bytes("\0\n\xFF", 3);
    EXPECT_TRUE(cache.keep("abcdef", bytes));
    EXPECT_TRUE(cache.keep("abcdee", ""));
    EXPECT_EQ(cache.find("abcdef"), bytes);
    EXPECT_EQ(cache.find("abcdee"), "");
    EXPECT_EQ(cache.find("abcded"), std::nullopt);
    EXPECT_EQ(disk.files.count("cache/ab/cdef"), 1U);
    EXPECT_EQ(disk.files.size(), 2U);
}

TEST(ContentCache, TakesDamagedEntriesForNone) {
    FakeFileSystem disk;
    ContentCache cache(disk, "cache");
    ASSERT_TRUE(cache.keep("abcdef", "some bytes"));
    const std::string good = disk.files["cache/ab/cdef"];
    for (std::size_t i = 0; i < good.size(); ++i) {
        disk.files["cache/ab/cdef"] = good.substr(0, i);
        EXPECT_EQ(cache.find("abcdef"), std::nullopt) << i;
        disk.files["cache/ab/cdef"] = good;
        disk.files["cache/ab/cdef"][i] ^= 1;
        EXPECT_EQ(cache.find("abcdef"), std::nullopt) << i;
    }
    disk.files["cache/ab/0000"] = good;  // another entry's bytes under this name
    EXPECT_EQ(cache.find("ab0000"), std::nullopt);
}

TEST(ContentCache, DoesWithoutADisk) {
    FakeFileSystem disk;
    disk.unwritable = {"cache"};
    EXPECT_FALSE(ContentCache(disk, "cache").keep("abcdef", "x"));
    disk.unwritable.clear();
    disk.unrenamable = {"cache"};
    EXPECT_FALSE(ContentCache(disk, "cache").keep("abcdef", "x"));
    EXPECT_TRUE(disk.files.empty());
}

}  // namespace
}  // namespace kf::gen
