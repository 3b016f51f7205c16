// Depfiles in Make's syntax, as Make itself reads them.
#include "output/depfile.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(Depfile, ListsEachInputOnceAndSorted) {
    EXPECT_EQ(depfile_text({"o/m.stamp"}, {"/b.slang", "/a.kf.json", "/b.slang"}),
              "o/m.stamp: \\\n  /a.kf.json \\\n  /b.slang\n");
    EXPECT_EQ(depfile_text({"a", "b"}, {}), "a b:\n");
}

TEST(Depfile, EscapesWhatMakeWouldRead) {
    EXPECT_EQ(depfile_text({"a b"}, {"/x y$z#w", "/back\\slash", "/back\\ space"}),
              "a\\ b: \\\n  /back\\\\\\ space \\\n  /back\\slash \\\n  /x\\ y$$z\\#w\n");
}

TEST(Depfile, LeavesOutWhatCannotBeWritten) {
    EXPECT_EQ(depfile_text({"a"}, {"/x\ny", "/z"}), "a: \\\n  /z\n");
}

}  // namespace
}  // namespace kf::gen
