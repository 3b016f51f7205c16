// Outputs: only what changed, all of them or none.
#include "output/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::Pair;

const std::vector<OutputFile> three{{"out/a.h", "new a"}, {"out/b.cpp", "new b"}, {"out/c.kfa", "new c"}};

TEST(DiskSink, WritesOnlyWhatChanged) {
    FakeFileSystem disk;
    disk.files = {{"out/a.h", "new a"}, {"out/b.cpp", "old b"}};
    const auto result = DiskSink(disk, ".journal").write(three);
    ASSERT_TRUE(result);
    EXPECT_THAT(result.value(), ElementsAre(OutputResult{"out/a.h", OutputAction::unchanged},
                                            OutputResult{"out/b.cpp", OutputAction::updated},
                                            OutputResult{"out/c.kfa", OutputAction::created}));
    EXPECT_THAT(disk.files, ElementsAre(Pair("out/a.h", "new a"), Pair("out/b.cpp", "new b"),
                                        Pair("out/c.kfa", "new c")));
    EXPECT_EQ(disk.writes, 3);  // and the journal

    ASSERT_TRUE(DiskSink(disk, ".journal").write(three));
    EXPECT_EQ(disk.writes, 3);
}

TEST(DiskSink, RewritesStampsAlways) {
    FakeFileSystem disk;
    const std::vector<OutputFile> stamp{{"x.stamp", "", true}};
    ASSERT_TRUE(DiskSink(disk, ".journal").write(stamp));
    const std::int64_t before = disk.times["x.stamp"];
    const auto result = DiskSink(disk, ".journal").write(stamp);
    ASSERT_TRUE(result);
    EXPECT_EQ(result.value().at(0).action, OutputAction::updated);
    EXPECT_GT(disk.times["x.stamp"], before);
}

TEST(DiskSink, LeavesEverythingAsItWasWhenAWriteFails) {
    for (const char* failing : {"a.h", "b.cpp", "c.kfa"}) {
        FakeFileSystem disk;
        disk.files = {{"out/a.h", "old a"}, {"out/b.cpp", "old b"}};
        const auto before = disk.files;
        disk.unwritable = {failing};
        const auto result = DiskSink(disk, ".journal").write(three);
        ASSERT_FALSE(result) << failing;
        EXPECT_EQ(result.errors().at(0).id, "file-unwritable");
        EXPECT_EQ(disk.files, before) << failing;
    }
}

TEST(DiskSink, LeavesEverythingAsItWasWhenARenameFails) {
    for (const char* failing : {"a.h", "b.cpp", "c.kfa"}) {
        FakeFileSystem disk;
        disk.files = {{"out/a.h", "old a"}, {"out/b.cpp", "old b"}};
        const auto before = disk.files;
        disk.unrenamable = {failing};
        ASSERT_FALSE(DiskSink(disk, ".journal").write(three)) << failing;
        EXPECT_EQ(disk.files, before) << failing;
    }
}

TEST(DiskSink, RefusesFoldersAndUnreadableFilesBeforeWriting) {
    FakeFileSystem disk;
    disk.directories = {"out/a.h"};
    disk.files = {{"out/b.cpp", "old b"}};
    disk.unreadable = {"b.cpp"};
    const auto result = DiskSink(disk, ".journal").write(three);
    ASSERT_FALSE(result);
    ASSERT_EQ(result.errors().size(), 2U);
    EXPECT_EQ(result.errors()[0].id, "file-unwritable");
    EXPECT_EQ(result.errors()[1].id, "file-unreadable");
    EXPECT_EQ(disk.writes, 0);
}

TEST(DryRunSink, SaysWhatWouldBeDoneAndTouchesNothing) {
    FakeFileSystem disk;
    disk.files = {{"out/a.h", "new a"}, {"out/b.cpp", "old b"}};
    const auto before = disk.files;
    const auto dry = DryRunSink(disk).write(three);
    ASSERT_TRUE(dry);
    EXPECT_EQ(disk.files, before);
    EXPECT_EQ(disk.writes, 0);
    EXPECT_EQ(dry.value(), DiskSink(disk, ".journal").write(three).value());
}

}  // namespace
}  // namespace kf::gen
