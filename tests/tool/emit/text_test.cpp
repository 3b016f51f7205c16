// Line wrapping and the cleaning of comments.
#include "emit/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(Text, KeepsShortListsOnOneLine) {
    EXPECT_EQ(wrap_list(4, "void f(", {"int a", "int b"}, ");"), "    void f(int a, int b);");
    EXPECT_EQ(wrap_list(0, "void f(", {}, ");"), "void f();");
}

TEST(Text, MakesIdentifiersOfPaths) {
    EXPECT_EQ(as_identifier("net.layers[2].sums[0][11]"), "net__layers__2__sums__0__11");
}

TEST(Text, AlignsWrappedItemsBehindTheBracket) {
    const std::string item(40, 'x');
    EXPECT_EQ(wrap_list(2, "f(", {item, item, item}, ");"),
              "  f(" + item + ", " + item + ",\n    " + item + ");");
}

TEST(Text, FillsLinesToExactlyTheLastColumn) {
    const std::string first(50, 'a');
    const std::string second(columns - 50 - 4 - 2, 'b');  // "f(" first ", " second ");"
    const std::string fits = wrap_list(0, "f(", {first, second}, ");");
    EXPECT_EQ(fits.size(), columns);
    EXPECT_THAT(wrap_list(0, "f(", {first, second + "b"}, ");"), testing::HasSubstr(",\n  b"));
}

TEST(Text, IndentsItemsThatFitNowhereElse) {
    const std::string head(80, 'h');
    const std::string item(60, 'x');
    EXPECT_EQ(wrap_list(4, head + "(", {item}, ");"), "    " + head + "(\n        " + item + ");");
}

TEST(Text, TakesAnotherSeparator) {
    EXPECT_EQ(wrap_list(0, "static_assert(", {"a", "b"}, ");", " &&"), "static_assert(a && b);");
}

TEST(Text, QuotesDocstrings) {
    EXPECT_THAT(docstring(4, {}), testing::IsEmpty());
    EXPECT_THAT(docstring(4, {"One \"line\" of it."}),
                testing::ElementsAre("    \"\"\"One \"line\" of it.\"\"\""));
    EXPECT_THAT(docstring(2, {"Ends in \"quotes\"", "", "back\\slash"}),
                testing::ElementsAre(R"(  """Ends in \"quotes\")", "", R"(  back\\slash)", R"(  """)"));
}

TEST(Text, CleansComments) {
    EXPECT_THAT(doc_lines("\n  \nFirst.  \r\n\n  Path: C:\\\n\n"),
                testing::ElementsAre("First.", "", "  Path: C:"));
    EXPECT_THAT(doc_lines(""), testing::IsEmpty());
}

}  // namespace
}  // namespace kf::gen
