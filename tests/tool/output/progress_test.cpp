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

}  // namespace
}  // namespace kf::gen
