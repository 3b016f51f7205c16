// Telling that nothing changed, and never telling so wrongly.
#include "cache/run_state.h"

#include <gtest/gtest.h>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

class RunStateTest : public testing::Test {
protected:
    void SetUp() override {
        disk_.files = {
            {"m.kf.json", "{}"}, {"m.slang", "float f();"}, {"kfgen", "program"}, {"out/m.h", "header"}};
        disk_.times = {{"kfgen", 7}};
        state_ = record_run(disk_, "key", {{{"m.kf.json", "{}"}, {"m.slang", "float f();"}}, {"kfgen"}},
                            {{"out/m.h", "header", false}});
    }

    FakeFileSystem disk_;
    RunState state_;
};

TEST_F(RunStateTest, IsCurrentWhenNothingChanged) {
    EXPECT_TRUE(is_current(disk_, state_, "key"));
    disk_.times["m.slang"] = 99;  // touched, not changed
    EXPECT_TRUE(is_current(disk_, state_, "key"));
}

TEST_F(RunStateTest, IsNotCurrentWhenAnythingChanged) {
    EXPECT_FALSE(is_current(disk_, state_, "another key"));
    const auto changed = [&](auto&& change) {
        FakeFileSystem& disk = disk_;
        const auto files = disk.files;
        const auto times = disk.times;
        change(disk);
        const bool current = is_current(disk, state_, "key");
        disk.files = files;
        disk.times = times;
        return !current;
    };
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files["m.kf.json"] = "[]"; }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files["m.slang"] += ' '; }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files.erase("m.slang"); }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.times["kfgen"] = 8; }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files["kfgen"] += '2'; }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files["out/m.h"] = "edited"; }));
    EXPECT_TRUE(changed([](FakeFileSystem& disk) { disk.files.erase("out/m.h"); }));
    EXPECT_TRUE(is_current(disk_, state_, "key"));
}

TEST_F(RunStateTest, IsNotCurrentWhenAnInputChangedAfterItWasRead) {
    disk_.files["m.slang"] = "float g();";
    const RunState late = record_run(disk_, "key", {{{"m.slang", "float f();"}}, {}}, {});
    EXPECT_FALSE(is_current(disk_, late, "key"));
    disk_.files["m.slang"] = "float f();";
    EXPECT_TRUE(is_current(disk_, late, "key"));
}

TEST_F(RunStateTest, ReadsNoOutputThatLooksAsItDid) {
    ASSERT_FALSE(disk_.write("out/state", run_state_text(state_)));
    settle(disk_, state_, "out/state");
    const RunState settled = parse_run_state(disk_.files["out/state"]).value();
    const std::int64_t recorded = disk_.status("out/state")->changed;
    EXPECT_TRUE(is_settled(disk_, settled, recorded));
    disk_.reads = 0;
    EXPECT_TRUE(is_current(disk_, settled, "key", recorded));
    EXPECT_EQ(disk_.reads, 2);  // the inputs
    // What is as new as the record may have been changed since, and is read.
    EXPECT_FALSE(is_settled(disk_, settled, disk_.status("out/m.h")->changed));
    EXPECT_TRUE(is_current(disk_, settled, "key", disk_.status("out/m.h")->changed));
    EXPECT_EQ(disk_.reads, 5);

    disk_.times["out/m.h"] = recorded - 1;  // touched
    EXPECT_FALSE(is_settled(disk_, settled, recorded));
    EXPECT_TRUE(is_current(disk_, settled, "key", recorded));
    disk_.files["out/m.h"] = "HEADER";  // of the same size
    EXPECT_FALSE(is_current(disk_, settled, "key", recorded));
    disk_.files.erase("out/m.h");
    EXPECT_FALSE(is_current(disk_, settled, "key", recorded));
}

TEST_F(RunStateTest, SettlesOnlyWhatHoldsWhatWasRecorded) {
    ASSERT_FALSE(disk_.write("out/state", run_state_text(state_)));
    disk_.files["out/m.h"] = "another's";
    settle(disk_, "out/state");
    EXPECT_EQ(disk_.files["out/state"], run_state_text(state_));
    disk_.files["out/m.h"] = "header";
    disk_.unwritable = {"state"};
    settle(disk_, "out/state");
    EXPECT_EQ(disk_.files["out/state"], run_state_text(state_));
    EXPECT_EQ(disk_.files.size(), 5U);  // nothing is left behind
    disk_.unwritable.clear();
    settle(disk_, "out/state");
    EXPECT_NE(disk_.files["out/state"], run_state_text(state_));
}

TEST_F(RunStateTest, SurvivesItsFile) {
    state_.inputs.push_back({"with space\nand \\break", "absent"});
    EXPECT_EQ(parse_run_state(run_state_text(state_)), state_);
    EXPECT_EQ(parse_run_state(run_state_text({})), RunState{});
    const Diagnostics warnings = {
        {Severity::warning, "slang-E15901", {"/a b/m.slang", 1, 2}, "line\nbreak \"quoted\"", {"one", "two"}},
        {Severity::warning, "slang-E41016", {"/m.slang", 3, 4}, "not set", {}}};
    const RunState warned = record_run(disk_, "key", {}, {}, warnings);
    EXPECT_EQ(warned.warnings, warnings);
    EXPECT_EQ(parse_run_state(run_state_text(warned)), warned);
    EXPECT_TRUE(is_current(disk_, warned, "key"));
}

TEST_F(RunStateTest, RefusesDamagedFiles) {
    const std::string text = run_state_text(state_);
    for (std::size_t i = 0; i < text.size(); ++i) {
        EXPECT_FALSE(parse_run_state(text.substr(0, i))) << i;
        std::string changed = text;
        changed[i] ^= 1;
        EXPECT_FALSE(parse_run_state(changed)) << i;
    }
}

}  // namespace
}  // namespace kf::gen
