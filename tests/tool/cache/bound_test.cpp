// What was used last stays.
#include "cache/bound.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

namespace kf::gen {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class BoundTest : public testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_ / "ab");
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// Adds an entry of 8 KiB that was used so long ago.
    fs::path add(const std::string& name, std::chrono::hours ago) const {
        const fs::path path = folder_ / "ab" / name;
        std::ofstream(path) << std::string(8000, 'x');
        fs::last_write_time(path, fs::file_time_type::clock::now() - ago);
        return path;
    }

    CacheFiles& files() { return files_; }

    fs::path folder_ = fs::path(testing::TempDir()) / "bounded";

private:
    CacheFiles files_{folder_};
};

TEST_F(BoundTest, WhatWasUsedLongestAgoGoesFirst) {
    const fs::path old = add("old", 30h);
    const fs::path used = add("used", 40h);
    const fs::path young = add("young", 1h);
    mark_used(files(), used);
    bound_folder(files(), folder_, 20 << 10, 0);
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(used));
    EXPECT_TRUE(fs::exists(young));
}

TEST_F(BoundTest, NothingGoesBelowTheLimit) {
    for (const char* name : {"a", "b", "c"}) add(name, 1h);
    bound_folder(files(), folder_, 24 << 10, 0);
    bound_folder(files(), folder_, 24 << 10, 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "ab"), {}), 3);
    // By what is kept it may grow beyond, which is then counted.
    add("d", 0h);
    bound_folder(files(), folder_, 24 << 10, 8000);
    EXPECT_LE(std::distance(fs::directory_iterator(folder_ / "ab"), {}), 3);
}

TEST_F(BoundTest, AFolderThatIsNotThereIsNone) {
    bound_folder(files(), folder_ / "no", 0, 5);
    EXPECT_FALSE(fs::exists(folder_ / "no"));
}

}  // namespace
}  // namespace kf::gen
