// Nothing in a cache's folder leads out of it.
#include "cache/cache_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "cache/bound.h"
#include "cache/content_cache.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class CacheFilesTest : public testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(root_);
        fs::create_directories(cache_);
        fs::create_directories(elsewhere_);
        std::ofstream(victim_) << "precious";
        fs::last_write_time(victim_, long_ago_);
    }
    void TearDown() override {
        EXPECT_EQ(text_of(victim_), "precious");
        EXPECT_EQ(fs::last_write_time(victim_), long_ago_);
        EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere_), {}), 1);
        fs::remove_all(root_);
    }

    /// An entry as the cache itself writes it.
    std::string entry(const std::string& key) const {
        const fs::path other = root_ / "other";
        ContentCache cache(other);
        EXPECT_TRUE(cache.keep(key, "bytes"));
        return text_of(other / key.substr(0, 2) / key.substr(2));
    }

    fs::path root_ = fs::path(testing::TempDir()) / "cache_files";
    fs::path cache_ = root_ / "cache";
    fs::path elsewhere_ = root_ / "elsewhere";
    fs::path victim_ = elsewhere_ / "victim";
    fs::file_time_type long_ago_ = fs::file_time_type::clock::now() - std::chrono::hours(100);
};

TEST_F(CacheFilesTest, TheSizeIsNotWrittenElsewhere) {
    CacheFiles files(cache_);
    for (const char* name : {"size", "lock"}) {
        for (const bool hard : {false, true}) {
            fs::remove(cache_ / name);
            hard ? fs::create_hard_link(victim_, cache_ / name) : fs::create_symlink(victim_, cache_ / name);
            bound_folder(files, cache_, 1 << 20, 5000);
            bound_folder(files, cache_, 1 << 20, 5000);
            fs::remove(cache_ / name);
        }
    }
    // A link to nothing makes nothing.
    for (const char* name : {"size", "lock"}) {
        fs::remove(cache_ / name);
        fs::create_symlink(elsewhere_ / "made", cache_ / name);
        bound_folder(files, cache_, 1 << 20, 5000);
    }
    EXPECT_TRUE(fs::is_symlink(cache_ / "lock"));
    EXPECT_FALSE(fs::is_symlink(cache_ / "size"));
    fs::remove(cache_ / "lock");
    fs::remove(cache_ / "size");
    bound_folder(files, cache_, 1 << 20, 5000);
    EXPECT_EQ(text_of(cache_ / "size"), "0\n");
    bound_folder(files, cache_, 1 << 20, 5000);
    EXPECT_EQ(text_of(cache_ / "size"), "5000\n");
}

TEST_F(CacheFilesTest, EntriesThatAreLinksAreNone) {
    ContentCache cache(cache_);
    ASSERT_TRUE(cache.keep("abcdef", "bytes"));
    EXPECT_EQ(cache.find("abcdef"), "bytes");
    fs::remove(cache_ / "ab" / "cdef");
    std::ofstream(root_ / "good") << entry("abcdef");
    fs::create_symlink(root_ / "good", cache_ / "ab" / "cdef");
    EXPECT_EQ(cache.find("abcdef"), std::nullopt);
    EXPECT_TRUE(cache.keep("abcdef", "bytes"));
    EXPECT_EQ(cache.find("abcdef"), "bytes");
    EXPECT_FALSE(fs::is_symlink(cache_ / "ab" / "cdef"));
    // What isn't a file at all isn't waited for.
    fs::remove(cache_ / "ab" / "cdef");
    ASSERT_EQ(::mkfifo((cache_ / "ab" / "cdef").c_str(), 0600), 0);
    EXPECT_EQ(cache.find("abcdef"), std::nullopt);
    EXPECT_TRUE(cache.keep("abcdef", "bytes"));
    EXPECT_EQ(cache.find("abcdef"), "bytes");
}

TEST_F(CacheFilesTest, PartsThatAreLinksAreNone) {
    ContentCache cache(cache_);
    fs::create_symlink(elsewhere_, cache_ / "ab");
    EXPECT_FALSE(cache.keep("abcdef", "bytes"));
    EXPECT_FALSE(cache.keep("abvictim", "bytes"));
    EXPECT_EQ(cache.find("abvictim"), std::nullopt);
    CacheFiles files(cache_);
    mark_used(files, cache_ / "ab" / "victim");
    bound_folder(files, cache_, 1, 5000);
    files.remove(cache_ / "ab" / "victim");
    EXPECT_TRUE(files.list(cache_ / "ab").empty());
    EXPECT_TRUE(files.abandoned_beside(cache_ / "ab" / "victim").empty());
}

TEST_F(CacheFilesTest, TemporaryFilesAreTheirOwn) {
    CacheFiles files(cache_);
    const fs::path path = cache_ / "ab" / "cdef.tmp";
    fs::create_directories(cache_ / "ab");
    fs::create_symlink(victim_, path);
    EXPECT_FALSE(files.write(path, "mine"));
    EXPECT_FALSE(fs::is_symlink(path));
    EXPECT_EQ(text_of(path), "mine");
    EXPECT_FALSE(files.rename(path, cache_ / "ab" / "cdef"));
    EXPECT_EQ(files.read(cache_ / "ab" / "cdef").value(), "mine");
}

TEST_F(CacheFilesTest, TheFolderItselfMayBeALink) {
    fs::create_directories(root_ / "real");
    fs::create_directory_symlink(root_ / "real", root_ / "linked");
    ContentCache cache(root_ / "linked");
    EXPECT_TRUE(cache.keep("abcdef", "bytes"));
    EXPECT_EQ(cache.find("abcdef"), "bytes");
    cache.bound(1 << 20);
    EXPECT_TRUE(fs::exists(root_ / "real" / "size"));
}

TEST_F(CacheFilesTest, WhatIsOldGoes) {
    ContentCache cache(cache_);
    for (const char* key : {"ab0001", "ab0002", "cd0001"})
        ASSERT_TRUE(cache.keep(key, std::string(8000, 'x')));
    fs::create_symlink(victim_, cache_ / "ab" / "link");
    fs::last_write_time(cache_ / "ab" / "0001", long_ago_);
    cache.bound(20 << 10);
    EXPECT_EQ(cache.find("ab0001"), std::nullopt);
    EXPECT_NE(cache.find("cd0001"), std::nullopt);
}

}  // namespace
}  // namespace kf::gen
