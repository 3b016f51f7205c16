// Source lines below messages: which part is shown, and what is marked.
#include "diagnostic/snippet.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

std::string at(const std::string& source, std::int64_t line, std::int64_t column,
               const std::string& file = "m.kf.json") {
    return snippet(source, {file, line, column});
}

TEST(Snippet, MarksStringsAndWords) {
    EXPECT_EQ(at("{\n  \"x\": \"tensr[1]\"\n}", 2, 8),
              "\n    2 |   \"x\": \"tensr[1]\"\n      |        ^~~~~~~~~~");
    EXPECT_EQ(at("{\n  \"x\": \"tensr[1]\"\n}", 2, 9),
              "\n    2 |   \"x\": \"tensr[1]\"\n      |         ^~~~~");
    EXPECT_EQ(at("[1,\r\n]\r\n", 2, 1), "\n    2 | ]\n      | ^");
    EXPECT_EQ(at("\"a \\\" b", 1, 1), "\n    1 | \"a \\\" b\n      | ^~~~~~~");
    EXPECT_EQ(at("{", 1, 2), "\n    1 | {\n      |  ^");
    EXPECT_EQ(at("{ }", 1, 0), "\n    1 | { }");
    EXPECT_EQ(at(std::string(123455, '\n') + "x", 123456, 1), "\n 123456 | x\n        | ^");
}

TEST(Snippet, CountsCharactersInJsonAndBytesInSlang) {
    EXPECT_EQ(at("é: x", 1, 4), "\n    1 | é: x\n      |    ^");
    EXPECT_EQ(at("é: x", 1, 5, "m.slang"), "\n    1 | é: x\n      |    ^");
    EXPECT_EQ(at("\tx", 1, 2), "\n    1 | \tx\n      | \t^");
    EXPECT_EQ(at("\xEF\xBB\xBF{", 1, 1), "\n    1 | {\n      | ^");
}

TEST(Snippet, ShowsAPartOfLongLines) {
    const std::string text = at(std::string(500, 'a') + " b " + std::string(500, 'c'), 1, 502);
    EXPECT_EQ(text, "\n    1 | …" + std::string(59, 'a') + " b " + std::string(58, 'c') + "…\n      | " +
                        std::string(61, ' ') + "^");
}

TEST(Snippet, ShowsNothingThatIsNotThere) {
    for (const auto& [line, column] : {std::pair{0, 0}, {9, 1}, {2, 1}, {-1, 5}})
        EXPECT_EQ(at("a\n\nb", line, column), "");
    EXPECT_EQ(at("a\x1B[31m", 1, 1), "\n    1 | a [31m\n      | ^");
    EXPECT_EQ(at("a", 1, 99), "\n    1 | a\n      |  ^");
    EXPECT_EQ(at("\xFF\x80\x80", 1, 2, "m.slang").substr(0, 10), "\n    1 | \xFF");
}

}  // namespace
}  // namespace kf::gen
