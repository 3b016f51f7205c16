// Tests which loops of macros are warned of.
#include "slang/workarounds/hidden_loops.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using testing::HasSubstr;

/// Gives "3:15 message" for each warning about a function with these lines within.
std::vector<std::string> found(const std::string& macros, const std::string& lines) {
    const std::string text = macros + "\n[Differentiable] float f(float x)\n{\n" + lines + "\n}\n";
    std::vector<std::string> places;
    for (const Diagnostic& warning :
         hidden_loop_warnings({{"/m.slang", text}}, needed_workarounds(std::nullopt))) {
        EXPECT_EQ(warning.id, "gradient-unprotected");
        EXPECT_EQ(warning.severity, Severity::warning);
        EXPECT_EQ(warning.location.file, "/m.slang");
        places.push_back(std::to_string(warning.location.line) + ":" +
                         std::to_string(warning.location.column) + " " + warning.message);
    }
    return places;
}

TEST(HiddenLoops, NestsOfMacrosAreNamed) {
    const std::string loop = "#define LOOP(n) [MaxIters(n)] for (int i = 0; i < n; ++i)";
    for (const char* lines :
         {"[MaxIters(3)] for (int j = 0; j < 3; ++j) { LOOP(4) x += i; }",
          "LOOP(4) { [MaxIters(3)] do { x += 1; } while (x < 1); }",
          "LOOP(4) for (int j = 0; j < 3; ++j) x += 1;", "LOOP(4) { LOOP(2) { x += 1; } }",
          "if (x > 0) { while (x < 9) { x += 1; LOOP(4) x += 1; } }"}) {
        EXPECT_THAT(found(loop, lines),
                    testing::ElementsAre(HasSubstr("'LOOP' writes a loop of a nest into 'f'")))
            << lines;
    }
    EXPECT_THAT(found(loop, "float y = 0;\nfor (;;) { LOOP(4) x += 1; }"),
                testing::ElementsAre(testing::StartsWith("5:12 ")));
}

TEST(HiddenLoops, NestsWithinMacrosAreNamed) {
    EXPECT_EQ(found("#define TWO for (;;) { for (;;) { } }", "TWO").size(), 1U);
    EXPECT_EQ(found("#define ONE for (;;)\n#define TWO ONE ONE", "TWO x += 1;").size(), 1U)
        << "macros of macros";
    EXPECT_EQ(found("#define BEGIN for (;;) {\n#define END }", "BEGIN for (;;) { } END").size(), 1U);
    EXPECT_EQ(found("#define BEGIN for (;;) {\n#define END }", "BEGIN BEGIN x += 1; END END").size(), 1U);
    EXPECT_EQ(found("#define TWICE(a) a; a", "for (;;) { TWICE(for (;;) x += 1); }").size(), 1U)
        << "arguments";
    EXPECT_THAT(found("#define SUM(T) [Differentiable] T s(T x) { for (;;) { for (;;) x += 1; } return x; }",
                      "return x;"),
                testing::ElementsAre(HasSubstr("1:1 's', which a macro defines, has a loop of a nest")));
}

TEST(HiddenLoops, WhileThatIsLeftIsNamed) {
    const std::string loop = "#define WHILE(c) [MaxIters(4)] while (c)";
    EXPECT_THAT(found(loop, "WHILE(x < 9) { x += 1; if (x > 7) break; }"),
                testing::ElementsAre(HasSubstr("'WHILE' writes a 'while' that is left from within")));
    EXPECT_EQ(found("#define ALL while (x < 9) { x += 1; if (x > 7) return x; }", "ALL").size(), 1U);
    EXPECT_TRUE(found(loop, "WHILE(x < 9) { x += 1; }").empty());
    EXPECT_TRUE(found("#define DO do { if (x > 3) break; } while (x < 9)", "DO;").empty());
}

TEST(HiddenLoops, LoopsThatSlangGetsRightAreNot) {
    const std::string loop = "#define LOOP(n) for (int i = 0; i < n; ++i)";
    for (const char* lines :
         {"LOOP(4) x += i;", "LOOP(4) { x += i; } for (;;) { x += 1; }",
          "for (;;) { x += 1; } LOOP(4) x += i;", "[MaxIters(3)] for (;;) { for (;;) { } }",
          "[ForceUnroll] for (;;) { LOOP(3) x += 1; }", "float LOOP;"}) {
        EXPECT_TRUE(found(loop, lines).empty()) << lines;
    }
    const std::string limited = "#define LOOP [MaxIters(4)] for (;;)";
    EXPECT_TRUE(found(limited, "[MaxIters(4)] for (;;) { LOOP x += 1; }").empty()) << "one limit";
    EXPECT_EQ(found(limited, "[MaxIters(5)] for (;;) { LOOP x += 1; }").size(), 1U);
    EXPECT_EQ(found(limited, "for (;;) { LOOP x += 1; }").size(), 1U);
    EXPECT_TRUE(found("#define LOOP [ForceUnroll] for (;;)", "for (;;) { LOOP { x += 1; } }").empty());
    EXPECT_TRUE(
        hidden_loop_warnings(
            {{"/m.slang", "#define LOOP for (;;)\nfloat f(float x) { LOOP { LOOP x += 1; } return x; }"}},
            needed_workarounds(std::nullopt))
            .empty())
        << "without derivative";
}

}  // namespace
}  // namespace kf::gen
