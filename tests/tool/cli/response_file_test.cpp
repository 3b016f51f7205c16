// @FILE on the command line: arguments that stand in a file.
#include "cli/response_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;

TEST(ResponseFile, SplitsAsAShellDoes) {
    FakeFileSystem disk;
    disk.files["f"] = " a  'b c'\t\"d \\\" e\"\n\nf\\ g '' x'y'\"z\" '\\n'\r\n";
    EXPECT_THAT(expand_response_files({"first", "@f", "last"}, disk).value(),
                ElementsAre("first", "a", "b c", "d \" e", "f g", "", "xyz", "\\n", "last"));
    disk.files["empty"] = "";
    EXPECT_THAT(expand_response_files({"@empty", "@"}, disk).value(), ElementsAre("@"));
}

TEST(ResponseFile, NestsButNotForEver) {
    FakeFileSystem disk;
    disk.files = {{"a", "1 @b 3"}, {"b", "2"}, {"loop", "@loop"}};
    EXPECT_THAT(expand_response_files({"@a"}, disk).value(), ElementsAre("1", "2", "3"));
    EXPECT_EQ(expand_response_files({"@loop"}, disk).errors().at(0).id, "command-line");
}

TEST(ResponseFile, SaysWhatIsWrong) {
    FakeFileSystem disk;
    EXPECT_EQ(expand_response_files({"@none"}, disk).errors().at(0).id, "file-not-found");
    disk.files["open"] = "a\n'b c";
    const auto result = expand_response_files({"@open"}, disk);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.errors().at(0).id, "command-line");
    EXPECT_EQ(result.errors().at(0).location, (Location{"open", 2, 0}));
}

}  // namespace
}  // namespace kf::gen
