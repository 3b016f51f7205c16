// Runs that were killed at any point: the next one finds the old files or all of the new ones.
#include "output/journal.h"

#include <gtest/gtest.h>

#include "output/sink.h"
#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

/// A disk that a process stops changing after some steps, as when it is killed.
class DyingFileSystem final : public FileSystem {
public:
    DyingFileSystem(FakeFileSystem& disk, int steps) : disk_(disk), steps_(steps) {}

    [[nodiscard]] std::optional<FileStatus> status(const std::filesystem::path& path) const override {
        return disk_.status(path);
    }
    [[nodiscard]] Outcome<std::string> read(const std::filesystem::path& path) const override {
        return disk_.read(path);
    }
    std::optional<Diagnostic> write(const std::filesystem::path& path, std::string_view content) override {
        if (steps_ == 0) return std::nullopt;
        // Killed within a write: half of the file is there.
        return --steps_ == 0 ? disk_.write(path, content.substr(0, content.size() / 2))
                             : disk_.write(path, content);
    }
    std::optional<Diagnostic> rename(const std::filesystem::path& from,
                                     const std::filesystem::path& to) override {
        return steps_ == 0 || --steps_ == 0 ? std::nullopt : disk_.rename(from, to);
    }
    void remove(const std::filesystem::path& path) override {
        if (steps_ != 0 && --steps_ != 0) disk_.remove(path);
    }
    std::filesystem::path temporary_beside(const std::filesystem::path& path) override {
        return disk_.temporary_beside(path);
    }
    [[nodiscard]] std::vector<std::filesystem::path> abandoned_beside(
        const std::filesystem::path& path) const override {
        return disk_.abandoned_beside(path);
    }

    [[nodiscard]] bool is_alive() const { return steps_ != 0; }

private:
    FakeFileSystem& disk_;
    int steps_;
};

const std::vector<OutputFile> next{{"o/a.h", "new a"}, {"o/a b.cpp", "new b"}, {"o/.state", "new state"}};
const std::map<std::string, std::string> files_before{
    {"o/a.h", "old a"}, {"o/a b.cpp", "old b"}, {"o/.state", "old state"}};
const std::map<std::string, std::string> files_after{
    {"o/a.h", "new a"}, {"o/a b.cpp", "new b"}, {"o/.state", "new state"}};

TEST(Journal, LeavesNoMixtureWhereverARunIsKilled) {
    int finished = 0;
    for (int steps = 1;; ++steps) {
        FakeFileSystem disk;
        disk.files = files_before;
        DyingFileSystem dying(disk, steps);
        ASSERT_TRUE(DiskSink(dying, "o/.journal").write(next));
        finish_interrupted(disk, "o/.journal", {"o/a.h", "o/a b.cpp", "o/.state"});
        EXPECT_TRUE(disk.files == files_before || disk.files == files_after) << steps;
        if (disk.files == files_after) ++finished;
        if (dying.is_alive()) break;
        ASSERT_LT(steps, 100);
    }
    EXPECT_GT(finished, 3);  // some of them between two renames
}

TEST(Journal, IsReadAsItWasWritten) {
    const std::vector<PlannedRename> renames{{"a\nb.tmp", "a b", std::string(64, 'a')}, {"c", "d", "e"}};
    const std::string text = journal_text(renames);
    EXPECT_EQ(parse_journal(text), renames);
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_TRUE(parse_journal(std::string_view(text).substr(0, size)).empty()) << size;
}

TEST(Journal, RenamesNothingThatChangedSince) {
    FakeFileSystem disk;
    disk.files = {{"a.tmp1", "other"},
                  {"a", "old"},
                  {".j.tmp0", journal_text({{"a.tmp1", "a", std::string(64, '0')}})}};
    finish_interrupted(disk, ".j", {"a"});
    EXPECT_EQ(disk.files, (std::map<std::string, std::string>{{"a", "old"}}));
}

}  // namespace
}  // namespace kf::gen
