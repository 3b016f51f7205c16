// Brackets and <…> among the lexemes of small texts.
#include "slang/matching.h"

#include <gmock/gmock.h>

#include "slang/lexed_text.h"

namespace kf::gen {
namespace {

/// The lexemes from one place to another, without blanks.
std::string part(const LexedText& text, std::size_t begin, std::size_t end) {
    std::string joined;
    for (std::size_t at = begin; at < end; ++at) joined += text[at];
    return joined;
}

TEST(Matching, FindsTheBracketThatCloses) {
    const LexedText text("f(a[1], {b}) + (c");
    EXPECT_EQ(part(text, 1, closing_bracket(text, 1) + 1), "(a[1],{b})");
    EXPECT_EQ(closing_bracket(text, 0), 0U) << "no bracket";
    EXPECT_EQ(closing_bracket(text, text.size() - 2), text.size()) << "not closed";
    EXPECT_EQ(opening_bracket(text, closing_bracket(text, 1)), 1U);
    EXPECT_EQ(opening_bracket(text, 2), 2U) << "no bracket";
}

TEST(Matching, FindsTheAngleThatCloses) {
    const LexedText text("Box<Pair<float, 2>> x;");
    EXPECT_EQ(part(text, 1, behind_angles(text, 1)), "<Pair<float,2>>");
    EXPECT_EQ(opening_angle(text, behind_angles(text, 1) - 1), 1U);
    EXPECT_EQ(behind_angles(text, 0), 0U) << "no angle";
    const LexedText computed("Box<(a > b), n[c > d]> x");
    EXPECT_EQ(part(computed, 1, behind_angles(computed, 1)), "<(a>b),n[c>d]>");
}

TEST(Matching, TakesComparisonsForNoBrackets) {
    for (const char* const text :
         {"a < b; c > d", "a < b) > c", "a < b] > c", "a < { b > c", "a < b } > c", "a < b"}) {
        const LexedText lexed(text);
        EXPECT_EQ(behind_angles(lexed, 1), 1U) << text;
        EXPECT_EQ(behind_group(lexed, 1), 2U) << text;
    }
    const LexedText lexed("a; b > c");
    EXPECT_EQ(opening_angle(lexed, 3), 3U);
}

TEST(Matching, FindsWhatIsOutsideOfGroups) {
    const LexedText text("Map<K, V> a[f(1, 2)], b");
    const std::size_t comma = find_outside(text, 0, text.size(), ",");
    EXPECT_EQ(part(text, comma, text.size()), ",b");
    EXPECT_EQ(find_outside(text, 0, text.size(), ";"), text.size());
    EXPECT_EQ(find_outside(text, 0, 3, ","), 3U) << "a group that goes on behind the end";
    EXPECT_EQ(text[find_outside(text, 0, text.size(), ";", "[")], "[");
}

}  // namespace
}  // namespace kf::gen
