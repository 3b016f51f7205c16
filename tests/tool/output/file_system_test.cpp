// The real disk: what the interface promises holds there too.
#include "output/file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "output/sink.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

class DiskTest : public testing::Test {
protected:
    void SetUp() override {
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        folder_ = fs::path(testing::TempDir()) / ("kf_" + test + "_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path folder_;
    DiskFileSystem disk_;
};

TEST_F(DiskTest, TellsFilesApartThatSizeAndTimeDoNot) {
    const fs::path path = folder_ / "file";
    ASSERT_FALSE(disk_.write(path, "one"));
    const FileStatus before = *disk_.status(path);
    ASSERT_FALSE(disk_.write(folder_ / "other", "two"));
    fs::last_write_time(folder_ / "other", fs::last_write_time(path));
    ASSERT_FALSE(disk_.rename(folder_ / "other", path));
    const FileStatus after = *disk_.status(path);
    EXPECT_EQ(after.size, before.size);
    EXPECT_EQ(after.modified, before.modified);
    EXPECT_NE(after.serial, before.serial);
    EXPECT_GE(after.changed, before.changed);
}

TEST_F(DiskTest, WritesAndReadsBytes) {
    const std::string bytes("\0\r\n\xFF", 4);
    const fs::path path = folder_ / "new" / "deep" / "file";
    ASSERT_FALSE(disk_.write(path, bytes));
    EXPECT_EQ(disk_.read(path).value(), bytes);
    EXPECT_EQ(disk_.status(path)->size, 4U);
    EXPECT_FALSE(disk_.status(path)->is_directory);
    ASSERT_FALSE(disk_.write(path, ""));
    EXPECT_EQ(disk_.read(path).value(), "");
    disk_.remove(path);
    EXPECT_FALSE(disk_.status(path));
    disk_.remove(path);
}

TEST_F(DiskTest, OpensNoPipesAndReadsNoDevices) {
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    for (const fs::path& path : {folder_ / "pipe", fs::path("/dev/zero")})
        EXPECT_EQ(disk_.read(path).errors().at(0).id, "file-unreadable") << path;
    std::ofstream(folder_ / "sparse").close();
    fs::resize_file(folder_ / "sparse", max_file + 1);
    EXPECT_EQ(disk_.read(folder_ / "sparse").errors().at(0).id, "file-unreadable");
}

TEST_F(DiskTest, FindsWhatProcessesThatAreGoneLeft) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const auto touch = [&](const std::string& name) { std::ofstream(folder_ / name).close(); };
    const std::string left = ".a.h." + std::to_string(child) + ".0.tmp";
    touch(left);
    touch(".a.h." + std::to_string(::getpid()) + ".0.tmp");
    touch(".a.h.x.0.tmp");
    touch(".b.h." + std::to_string(child) + ".0.tmp");
    EXPECT_EQ(disk_.abandoned_beside(folder_ / "a.h"), (std::vector<fs::path>{folder_ / left}));
    EXPECT_TRUE(disk_.abandoned_beside(folder_ / "none" / "a.h").empty());
}

TEST_F(DiskTest, ReportsWhatIsWrong) {
    EXPECT_EQ(disk_.read(folder_ / "none").errors().at(0).id, "file-not-found");
    EXPECT_EQ(disk_.read(folder_).errors().at(0).id, "file-unreadable");
    EXPECT_TRUE(disk_.status(folder_)->is_directory);
    ASSERT_FALSE(disk_.write(folder_ / "file", "x"));
    const auto error = disk_.write(folder_ / "file" / "below", "x");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->id, "file-unwritable");
    EXPECT_TRUE(disk_.write(folder_, "x"));
    EXPECT_EQ(disk_.rename(folder_ / "none", folder_ / "to")->id, "file-unwritable");
}

TEST_F(DiskTest, TemporaryNamesDifferAndStayInTheFolder) {
    const fs::path first = disk_.temporary_beside(folder_ / "a.h");
    EXPECT_NE(first, disk_.temporary_beside(folder_ / "a.h"));
    EXPECT_EQ(first.parent_path(), folder_);
    EXPECT_EQ(disk_.temporary_beside("a.h").parent_path(), "");
}

TEST_F(DiskTest, SinkLeavesNoTemporariesBehind) {
    ASSERT_TRUE(DiskSink(disk_, folder_ / ".journal").write({{folder_ / "a", "1"}, {folder_ / "b", "2"}}));
    fs::create_directories(folder_ / "c");
    ASSERT_FALSE(DiskSink(disk_, folder_ / ".journal").write({{folder_ / "a", "3"}, {folder_ / "c", "4"}}));
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) {
        ++entries;
    }
    EXPECT_EQ(entries, 3U);
    EXPECT_EQ(disk_.read(folder_ / "a").value(), "1");
}

TEST_F(DiskTest, SinkKeepsTheTimeOfUnchangedFiles) {
    ASSERT_TRUE(DiskSink(disk_, folder_ / ".journal").write({{folder_ / "a", "1"}}));
    const fs::file_time_type past = fs::last_write_time(folder_ / "a") - std::chrono::hours(1);
    fs::last_write_time(folder_ / "a", past);
    ASSERT_TRUE(DiskSink(disk_, folder_ / ".journal").write({{folder_ / "a", "1"}}));
    EXPECT_EQ(fs::last_write_time(folder_ / "a"), past);
    ASSERT_TRUE(DiskSink(disk_, folder_ / ".journal").write({{folder_ / "a", "2"}}));
    EXPECT_GT(fs::last_write_time(folder_ / "a"), past);
}

}  // namespace
}  // namespace kf::gen
