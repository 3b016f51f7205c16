// The line that says how far a run is.
#include "output/progress.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(Progress, FitsOnOneLine) {
    EXPECT_EQ(progress_line(37, 1000, "f3.forward", 80), "[37/1000] f3.forward");
    EXPECT_EQ(progress_line(37, 1000, "f3.forward", 20), "[37/1000] f3.forwar");
    EXPECT_EQ(progress_line(37, 1000, "f3.forward", 21), "[37/1000] f3.forward");
    EXPECT_EQ(progress_line(1, 2, "name", 0), "[1/2] name");
}

/// What is written to standard error, which is no terminal.
std::string told(Progress::Clock::duration pause, bool wanted_lines) {
    testing::internal::CaptureStderr();
    {
        Progress progress(true, wanted_lines, pause);
        progress.tell(1, 2, "f.forward");
        progress.tell(2, 2, "f.backward");
    }
    return testing::internal::GetCapturedStderr();
}

TEST(Progress, WritesLinesWhereNoneCanBeWrittenOver) {
    using namespace std::chrono_literals;
    EXPECT_EQ(told(0s, true), "[1/2] f.forward\n[2/2] f.backward\n");
    EXPECT_EQ(told(0s, false), "");
    EXPECT_EQ(told(1h, true), "");
}

}  // namespace
}  // namespace kf::gen
