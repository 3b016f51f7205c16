// "Did you mean …?": the known word nearest to an unknown one.
#include "diagnostic/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;

TEST(EditDistance, CountsSlips) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("calls", "calls"), 0U);
    EXPECT_EQ(edit_distance("cals", "calls"), 1U);
    EXPECT_EQ(edit_distance("callls", "calls"), 1U);
    EXPECT_EQ(edit_distance("cakls", "calls"), 1U);
    EXPECT_EQ(edit_distance("clals", "calls"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Closest, FindsSlipsOnly) {
    const std::vector<std::string> keys{"function", "name", "args", "result"};
    EXPECT_EQ(closest("fucntion", keys), "function");
    EXPECT_EQ(closest("Args", keys), "args");
    EXPECT_EQ(closest("arg", keys), "args");
    EXPECT_EQ(closest("colour", keys), std::nullopt);
    EXPECT_EQ(closest("", keys), std::nullopt);
    EXPECT_EQ(closest("x", {"y"}), std::nullopt);
    EXPECT_EQ(closest("args", {}), std::nullopt);
}

TEST(SuggestionNotes, NameTheNearestAndAll) {
    EXPECT_THAT(suggestion_notes("nam", "known keys", {"name", "args"}),
                ElementsAre("did you mean 'name'?", "known keys: name, args"));
    EXPECT_THAT(suggestion_notes("zzz", "known keys", {"name", "args"}),
                ElementsAre("known keys: name, args"));
    EXPECT_THAT(suggestion_notes("zzz", "known keys", {}), ElementsAre());
}

}  // namespace
}  // namespace kf::gen
