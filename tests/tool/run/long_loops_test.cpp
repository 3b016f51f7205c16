// Loops that are too long for llvmpipe, in texts.
#include "run/long_loops.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Diagnostics warnings_of(const std::string& text, const std::vector<Backend>& targets = {Backend::vulkan}) {
    Spec spec;
    for (const Backend backend : targets) spec.targets.emplace_back().backend = backend;
    return loop_warnings(spec, {{"/d/p.kf.json", text}, {"/d/a.slang", text}});
}

std::vector<std::int64_t> warned_lines(const std::string& text) {
    std::vector<std::int64_t> found;
    for (const Diagnostic& warning : warnings_of(text)) {
        EXPECT_EQ(warning.id, "loop-llvmpipe");
        EXPECT_EQ(warning.severity, Severity::warning);
        EXPECT_EQ(warning.location.file, "/d/a.slang");
        found.push_back(warning.location.line);
    }
    return found;
}

TEST(LongLoops, AreNamed) {
    const Diagnostics found = warnings_of(
        "float total(Tensor<float, 1> x)\n{\n    float s = 0;\n"
        "    for (int i = 0; i < 70000; ++i) s += x[i];\n    return s;\n}\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].location, (Location{"/d/a.slang", 4, 5}));
    EXPECT_EQ(
        found[0].message,
        "the loop in 'total' may run 70000 times: llvmpipe, Mesa's CPU driver, silently ends the loops of a "
        "thread, which may make 8 calls, after 65,535 iterations");
}

TEST(LongLoops, AreThoseWithLargeNumbers) {
    const std::string start = "float f(float x)\n{\n";
    EXPECT_THAT(warned_lines(start + "for (int i = 0; i < 8000; ++i) x += 1;\n}"), IsEmpty());
    EXPECT_THAT(warned_lines(start + "for (int i = 0; i < 8001; ++i) x += 1;\n}"), ElementsAre(3));
    EXPECT_THAT(warned_lines(start + "for (int i = 16002; i > 0; i -= 2) x += 1;\n}"), ElementsAre(3));
    EXPECT_THAT(
        warned_lines("static const int N = 100000;\n" + start + "for (int i = 0; i < N; ++i) x += 1;\n}"),
        ElementsAre(4));
    EXPECT_THAT(warned_lines(start + "[ForceUnroll] for (int i = 0; i < 9000; ++i) x += 1;\n}"), IsEmpty());
    EXPECT_THAT(warned_lines("float f(float x, int n)\n{\nfor (int i = 0; i < n; ++i) x += 1;\n}"),
                IsEmpty());
}

TEST(LongLoops, MultiplyInNests) {
    const std::string nest =
        "float f(float x)\n{\n"
        "for (int i = 0; i < 100; ++i)\n"
        "  for (int j = 0; j < 100; ++j)\n"
        "    for (int k = 0; k < 100; ++k) x += 1;\n"
        "for (int i = 0; i < 50; ++i)\n"
        "  for (int j = 0; j < 50; ++j) x += 1;\n}";
    EXPECT_THAT(warned_lines(nest), ElementsAre(4));
    EXPECT_THAT(warnings_of(nest)[0].message, HasSubstr("may run 10000 times"));
    const std::string huge =
        "float f(float x)\n{\n"
        "for (int i = 0; i < 2000000000; ++i) for (int j = 0; j < 2000000000; ++j) x += 1;\n}";
    EXPECT_THAT(warned_lines(huge), ElementsAre(3));
}

TEST(LongLoops, RunTwiceInBackwardPasses) {
    const std::string start = "[Differentiable]\nfloat f(float x, int n)\n{\n";
    const std::string loop = "[MaxIters(4001)] for (int i = 0; i < n; ++i) x = 0.5 * x;\n}";
    EXPECT_THAT(warned_lines(start + loop), ElementsAre(4));
    EXPECT_THAT(warnings_of(start + loop)[0].message, HasSubstr("4001 times, twice in a backward pass"));
    EXPECT_THAT(warned_lines("float f(float x, int n)\n{\n" + loop), IsEmpty());
    EXPECT_THAT(warned_lines(start + "[MaxIters(4000)] for (int i = 0; i < n; ++i) x = 0.5 * x;\n}"),
                IsEmpty());
}

TEST(LongLoops, EndEarlyOnVulkanOnly) {
    const std::string text = "float f(float x)\n{\nfor (int i = 0; i < 9000; ++i) x += 1;\n}";
    EXPECT_THAT(warnings_of(text, {Backend::cuda}), IsEmpty());
    EXPECT_EQ(warnings_of(text, {Backend::cuda, Backend::vulkan}).size(), 1U);
}

}  // namespace
}  // namespace kf::gen
