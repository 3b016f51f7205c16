// Which counters are stepped in another form for Slang's sake, and which aren't.
#include "slang/workarounds/loop_starts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kf::gen {
namespace {

struct LoopStartCase {
    const char* text;
    const char* changed;  ///< nullptr: nothing
};

class LoopStarts : public testing::TestWithParam<LoopStartCase> {};

INSTANTIATE_TEST_SUITE_P(
    Changed, LoopStarts,
    testing::Values(
        LoopStartCase{"[MaxIters(9)] for (int i = first; i < 9; ++i) s += x;",
                      "[MaxIters(9)] for (int i = first; i < 9; i = -(-(++i))) s += x;"},
        LoopStartCase{"[MaxIters(9)] for (uint i = a.b(c, 1); i < 9; i++) s += x;",
                      "[MaxIters(9)] for (uint i = a.b(c, 1); i < 9; i = -(-(i++ + 1))) s += x;"},
        LoopStartCase{"[MaxIters(9)] for (int16_t i = n - 1; i >= 0; i--) s += x;",
                      "[MaxIters(9)] for (int16_t i = n - 1; i >= 0; i = -(-(i-- - 1))) s += x;"},
        LoopStartCase{"[ MaxIters ( 9 ) ] [Other] for (var i = n; f(i, 2); i -= 2, ++j) { }",
                      "[ MaxIters ( 9 ) ] [Other] for (var i = n; f(i, 2); i = -(-(i -= 2)), ++j) { }"},
        LoopStartCase{"[MaxIters(9)] for (int i = n; i < 9; i = i + 3) { }",
                      "[MaxIters(9)] for (int i = n; i < 9; i = -(-(i = i + 3))) { }"},
        LoopStartCase{"int i = 0; i = n; [MaxIters(9)] for (; i < 9; ++i) { }",
                      "int i = 0; i = n; [MaxIters(9)] for (; i < 9; i = -(-(++i))) { }"},
        LoopStartCase{"typealias Index = int; [MaxIters(9)] for (Index i = n; i < 9; ++i) { }",
                      "typealias Index = int; [MaxIters(9)] for (Index i = n; i < 9; i = -(-(++i))) { }"},
        LoopStartCase{"uint i = n; [MaxIters(9)] do { s += x; ++i; } while (i < 9);",
                      "uint i = n; [MaxIters(9)] do { s += x; ++i; i = -(-i); } while (i < 9);"},
        LoopStartCase{"int i = n; [MaxIters(9)] while (true) { if (i > 5) break; i += 1; }",
                      "int i = n; [MaxIters(9)] while (true) { if (i > 5) break; i += 1; i = -(-i); }"},
        LoopStartCase{
            "[MaxIters(4)] for (int j = 0; j < 4; ++j) { [MaxIters(4)] for (int i = j; i < 4; ++i) s += x; }",
            "[MaxIters(4)] for (int j = 0; j < 4; ++j) { [MaxIters(4)] for (int i = j; i < 4; i = -(-(++i))) "
            "s += x; }"}));

// A loop's steps are no statements of the loop around it.
INSTANTIATE_TEST_SUITE_P(
    Nested, LoopStarts,
    testing::Values(LoopStartCase{
        "[MaxIters(4)] for (int j = n; j < 4; j++) { [MaxIters(4)] for (int i = j + 1; i < 4; i += 1) s "
        "+= x * i; }",
        "[MaxIters(4)] for (int j = n; j < 4; j = -(-(j++ + 1))) { [MaxIters(4)] for (int i = j + 1; "
        "i < 4; i = -(-(i += 1))) s += x * i; }"}));

INSTANTIATE_TEST_SUITE_P(
    AsItIs, LoopStarts,
    testing::Values(
        LoopStartCase{"[MaxIters(9)] for (int i = 0; i < n; ++i) s += x;", nullptr},
        LoopStartCase{"[MaxIters(9)] for (int i = -3; i < n; i += 2) s += x;", nullptr},
        LoopStartCase{"int i = 0; [MaxIters(9)] do { ++i; } while (i < 9);", nullptr},
        LoopStartCase{"for (int i = n; i < 9; ++i) s += x;", nullptr},
        LoopStartCase{"[ForceUnroll] for (int i = n; i < 9; ++i) s += x;", nullptr},
        LoopStartCase{"[MaxIters(9)] for (float t = a; t < 9; t += 1) s += x;", nullptr},
        LoopStartCase{"Dual d = a; [MaxIters(9)] while (true) { d += b; }", nullptr},
        LoopStartCase{"int i = n; [MaxIters(9)] do { if (c) ++i; else i += 2 * k(); } while (i < 9);",
                      "int i = n; [MaxIters(9)] do { if (c) ++i; else i += 2 * k(); } while (i < 9);"},
        LoopStartCase{"#define LOOP [MaxIters(9)] for (int i = n; i < 9; ++i)\nLOOP s += x;", nullptr},
        LoopStartCase{"// [MaxIters(9)] for (int i = n; i < 9; ++i)", nullptr},
        LoopStartCase{"[MaxIters(9)] for (int i = n; i < 9; ++i", nullptr},
        LoopStartCase{"[MaxIters(9)] for", nullptr}, LoopStartCase{"", nullptr}));

TEST_P(LoopStarts, OfComputedStarts) {
    const std::string text = GetParam().text;
    const std::string changed = keep_loop_starts(text);
    EXPECT_EQ(changed, GetParam().changed == nullptr ? text : GetParam().changed);
    EXPECT_EQ(std::count(changed.begin(), changed.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
}

TEST(LoopStartsLeft, AreCountersOfUnknownTypes) {
    const auto left = [](std::string_view text) {
        const LexedText lexed(text);
        int count = 0;
        for (std::size_t index = 0; index < lexed.size(); ++index)
            count += starts_computed(lexed, index) ? 1 : 0;
        return count;
    };
    EXPECT_EQ(left("[MaxIters(9)] for (Counter i = n; i < 9; ++i) { }"), 1);
    EXPECT_EQ(left("[MaxIters(9)] for (int i = n; i < 9; ++i) { }"), 0);
    EXPECT_EQ(left("for (Counter i = n; i < 9; ++i) { }"), 0);
}

}  // namespace
}  // namespace kf::gen
