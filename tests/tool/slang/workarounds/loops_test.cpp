// What loops become for Slang's sake, and which run more often than they say.
#include "slang/workarounds/loops.h"

#include <gtest/gtest.h>

#include <regex>

#include "slang/gradient_texts.h"

namespace kf::gen {
namespace {

// With one blank for blanks and #line directives.
std::string changed(const std::string& text) {
    ModuleText module(text);
    assert_loop_limits(module);
    raise_loop_limits(module);
    replace_whiles(module);
    const std::string result = module.changed();
    const std::string without = std::regex_replace(result, std::regex("#line [0-9]+"), " ");
    return std::regex_replace(without, std::regex("\\s+"), " ");
}

struct LoopCase {
    const char* text;
    const char* expected;
};

class Loops : public testing::TestWithParam<LoopCase> {};

TEST_P(Loops, AreChanged) { EXPECT_EQ(changed(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Nests, Loops,
    testing::Values(
        LoopCase{
            "{ [MaxIters(3)] for (int i = 0; i < n; i++) { [MaxIters(8)] for (int j = 0; j < m; j++) {} } }",
            "{ [MaxIters( 9 )] for (int i = 0; ( i < n ) ; i++) { [MaxIters(8)] for (int j = 0; j < m; j++) "
            "{} } }"},
        LoopCase{"{ [MaxIters(8)] do { [MaxIters(2)] do { x++; } while (b); } while (a); }",
                 "{ [MaxIters(8)] do { [MaxIters( 9 )] do { x++; } while (b); } while (a); }"},
        // Slang counts by itself what a number ends.
        LoopCase{"{ for (int i = 0; i < 4; i++) [MaxIters(9)] do x++; while (a); }",
                 "{ [MaxIters(10)] for (int i = 0; ( i < 4 ) ; i++) [MaxIters(9)] do x++; while (a); }"},
        LoopCase{"{ [MaxIters(12)] do { for (uint i = 20u; i >= 3u; i -= 2u) { } } while (a); }",
                 "{ [MaxIters(12)] do { [MaxIters(13)] for (uint i = 20u; ( i >= 3u ) ; i -= 2u) { } } while "
                 "(a); }"},
        LoopCase{"{ [MaxIters(2)] do { for (uint i = 20u; i >= 3u; i -= 2u) { } } while (a); }",
                 "{ [MaxIters( 10 )] do { for (uint i = 20u; i >= 3u; i -= 2u) { } } while (a); }"},
        LoopCase{
            "static const int H = 5; void f() { [MaxIters(4)] do { [MaxIters(H)] do {} while (a); } while "
            "(b); }",
            "static const int H = 5; void f() { [MaxIters( 6 )] do { [MaxIters(H)] do {} while (a); } while "
            "(b); }"},
        LoopCase{
            "void f<let N : int>() { [MaxIters(4)] do { [MaxIters(N)] do {} while (a); } while (b); }",
            "void f<let N : int>() { [MaxIters( ((4) > (N + 1) ? (4) : (N + 1)) )] do { [MaxIters( ((5) > "
            "(N) ? "
            "(5) : (N)) )] do {} while (a); } while (b); }"},
        // Unrolled ones are no loops any more.
        LoopCase{
            "{ [MaxIters(3)] do { [ForceUnroll] for (int i = 0; i < 9; i++) { [MaxIters(7)] do {} while "
            "(a); } } while (b); }",
            "{ [MaxIters( 8 )] do { [ForceUnroll] for (int i = 0; i < 9; i++) { [MaxIters(7)] do {} while "
            "(a); } } while (b); }"}));

INSTANTIATE_TEST_SUITE_P(Whiles, Loops,
                         testing::Values(LoopCase{"{ while (a < b) { a += 1; if (c) continue; } }",
                                                  "{ for ( ; a < b ; ) { a += 1; if (c) continue; } }"},
                                         LoopCase{"{ [MaxIters(3)] while(true) if (a) break; }",
                                                  "{ [MaxIters(3)] for ( ; true ; ) if (a) break; }"},
                                         LoopCase{"{ if (a) while (b) f(); else do g(); while (c); }",
                                                  "{ if (a) for ( ; b ; ) f(); else do g(); while (c); }"}));

class Untouched : public testing::TestWithParam<const char*> {};

TEST_P(Untouched, StayAsTheyAre) {
    const std::string text = GetParam();
    EXPECT_EQ(changed(text), std::regex_replace(text, std::regex("\\s+"), " "));
}

INSTANTIATE_TEST_SUITE_P(
    All, Untouched,
    testing::Values(
        "{ [MaxIters(3)] for (int i = 0; i < n; i++) {} [MaxIters(8)] for (int j = 0; j < m; j++) {} }",
        "void f(int n) { for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) {} } }",
        "{ while (next(a)); do { a++; } while (a < 3); }", "int whiles; REPEAT(while (a) b();)\n",
        "#define LOOP [MaxIters(2)] while (a) do {} while (b)\nint n;",
        "void f(S s) { for (int i = 0; i < s.n; i++) { [MaxIters(4)] do {} while (a); } }"));

// What Slang says of the text names the places of the user's.
TEST(LoopTexts, KeepTheirPlaces) {
    EXPECT_EQ(keep_gradients("void f() {\n  while (é(a)) b();\n}\n", needed_workarounds(std::nullopt)),
              "void f() {\n  for   (\n; \n#line 2\n         é(a)\n; \n#line 2\n             ) b();\n}\n");
}

// offset, iterations and limit of each.
std::string excessive(const std::string& text) {
    std::string found;
    for (const ExcessiveLoop& loop : excessive_loops(text, tokenise(text))) {
        found += std::to_string(loop.offset) + ": " + std::to_string(loop.iterations) + " > " +
                 std::to_string(loop.limit) + "\n";
    }
    return found;
}

TEST(LoopLimits, AreExceeded) {
    EXPECT_EQ(excessive("{ [MaxIters(8)] for (int i = 0; i < 12; i++) { x += i; } }"), "16: 12 > 8\n");
    EXPECT_EQ(excessive("{ [MaxIters(8)]for (i = 30; 10 <= i; i -= 2) x += i; }"), "15: 11 > 8\n");
    EXPECT_EQ(excessive("static const uint M = 2; static const int N = 3; void f() { [MaxIters(M)] for (int "
                        "i = 0; i < N; ++i) {} }"),
              "74: 3 > 2\n");
}

TEST(LoopLimits, MayBeReached) {
    for (const char* text :
         {"{ [MaxIters(12)] for (int i = 0; i < 12; i++) { x += i; } }",
          "{ [MaxIters(8)] for (int i = 0; i < 12; i++) { if (x) break; } }",
          "{ [MaxIters(8)] for (int i = 0; i < 12; i++) { i += 2; } }",
          "{ [MaxIters(8)] for (int i = 0; i < 12; i++) { step(i); } }",
          "{ [MaxIters(8)] for (int i = 0; i < n; i++) { x += i; } }",
          "{ for (int i = 0; i < 12; i++) { x += i; } }",
          "{ [ForceUnroll] for (int i = 0; i < 12; i++) { x += i; } }",
          "static const int N = 12; void f(int N) { [MaxIters(8)] for (int i = 0; i < N; i++) {} }"}) {
        EXPECT_EQ(excessive(text), "") << text;
    }
}

// Gives for each loop whose limit may be too small where it is, its limit, and what Slang is asked to keep.
std::string limited(const std::string& text) {
    std::string found;
    for (const LimitedLoop& loop : limited_loops(text, tokenise(text))) {
        found += loop.function + "[" + text.substr(loop.begin, loop.body - loop.begin) + "|" +
                 text.substr(loop.body, loop.body_end - loop.body) + "|" +
                 text.substr(loop.body_end, loop.end - loop.body_end) + "] " + loop.limit + " " +
                 loop.iterations + "\n";
    }
    return found;
}

TEST(LimitedLoops, HaveTheirPlaces) {
    EXPECT_EQ(limited("{ [MaxIters(3)] for (int i = 0; i < n; i++) { x += i; } y(); }"),
              "[[MaxIters(3)] for (int i = 0; i < n; i++) |{ x += i; }|] 3 3\n");
    EXPECT_EQ(limited("{ if (a) [MaxIters(N)] while (b(1)) c(2); else d(); }"),
              "[[MaxIters(N)] while (b(1)) |c(2);|] N N\n");
    EXPECT_EQ(limited("{ [unroll] [MaxIters(2)] do ++x; while (x < y); }"),
              "[[unroll] [MaxIters(2)] do |++x;| while (x < y);] 2 2\n");
    EXPECT_EQ(
        limited("[Differentiable] float f(float x)\n{ [MaxIters(8)] do { [MaxIters(2)] do {} while (a); } "
                "while (b); }"),
        "f[[MaxIters(8)] do |{ [MaxIters(2)] do {} while (a); }| while (b);] 8 8\n"
        "f[[MaxIters(2)] do |{}| while (a);] 2 9\n");
}

TEST(LimitedLoops, MayStop) {
    EXPECT_EQ(limited("{ [MaxIters(8)] for (int i = 0; i < 12; i++) { if (x) break; } }"),
              "[[MaxIters(8)] for (int i = 0; i < 12; i++) |{ if (x) break; }|] 8 8\n");
    EXPECT_EQ(limited("{ [MaxIters(8)] for (int i = 0; i < 8; i++) { if (x) i = 0; } }"),
              "[[MaxIters(8)] for (int i = 0; i < 8; i++) |{ if (x) i = 0; }|] 8 8\n");
}

TEST(LimitedLoops, AreNoneThatStayBelow) {
    for (const char* text :
         {"{ [MaxIters(8)] for (int i = 0; i < 8; i++) { if (x) break; } }",
          "{ for (int i = 0; i < n; i++) { x += i; } }",
          "{\n#if A\n[MaxIters(8)] while (x < 3)\n#else\n[MaxIters(9)] while (x < 5)\n#endif\n"
          "{ x += 1; }\n}",
          "{ [MaxIters(8)] [ForceUnroll] for (int i = 0; i < n; i++) { x += i; } }",
          "[Differentiable] float f<let N : int>(float x) { [MaxIters(N)] for (int i = 0; "
          "i < N; i++) { x += x; } }",
          "float f(float x) { [MaxIters(8)] while (x < 3) { x += 1; } return x; }",
          "[Differentiable] [BackwardDerivative(g)] float f(float x) { [MaxIters(8)] "
          "while (x < 3) { x += 1; } }"}) {
        EXPECT_EQ(limited(text), "") << text;
    }
}

}  // namespace
}  // namespace kf::gen
