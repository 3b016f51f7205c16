// Texts in which loops end at their limits.
#include "run/limit_probe.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using Sources = std::vector<std::pair<std::filesystem::path, std::string>>;

class LimitProbeTest : public testing::Test {
protected:
    LimitProbe probe(const Sources& sources) {
        options_.spec = "/d/p.kf.json";
        return {spec_, options_, sources};
    }

    Spec spec_;
    Options options_;
};

TEST_F(LimitProbeTest, NamesLoops) {
    const Sources sources{
        {"/d/p.kf.json", "{}"},
        {"/d/b.slang", "float none;\n"},
        {"/d/c.slang", "[Differentiable] float f(float x)\n{\n  [MaxIters(4)]\n  while (x < 9) x += x;\n}"},
        {"/d/a.slang", "{ [MaxIters(M)] do f(); while (x); }"}};
    const std::vector<ProbedLoop> expected{{{"/d/a.slang", 1, 17}, "", "M"},
                                           {{"/d/c.slang", 4, 3}, "f", "4"}};
    EXPECT_EQ(probe(sources).loops(), expected);
    EXPECT_EQ(probe({{"/d/b.slang", "float none;\n"}}).loops(), std::vector<ProbedLoop>());
}

TEST_F(LimitProbeTest, EndsSomeAtTheirLimits) {
    const LimitProbe one =
        probe({{"/d/a.slang", "{ if (a) [MaxIters(2)] do f(); while (x); }"},
               {"/d/b.slang", "{ [MaxIters(3)] for (; y;) [MaxIters(5)] for (; z;) g(); }"}});
    const std::string a =
        "{ if (a) { int kf_iterations_0 = 0; [MaxIters(2)] do { if (kf_iterations_0++ >= int(2)";
    const std::string b =
        "{ { int kf_iterations_0 = 0; [MaxIters(3)] for (; y;) { if (kf_iterations_0++ >= int(6)";
    const std::string c =
        ") break; { int kf_iterations_1 = 0; [MaxIters(5)] for (; z;) { if (kf_iterations_1++ >= int(5)";
    const std::string far = " + 100000";
    const std::string end_a = ") break; f(); } while (x); } }";
    const std::string end_c = ") break; g(); } } } } }";
    EXPECT_EQ(one.texts(0, 2), (std::map<std::string, std::string>{{"/d/a.slang", a + end_a},
                                                                   {"/d/b.slang", b + c + far + end_c}}));
    EXPECT_EQ(one.texts(2, 3), (std::map<std::string, std::string>{{"/d/a.slang", a + far + end_a},
                                                                   {"/d/b.slang", b + far + c + end_c}}));
}

}  // namespace
}  // namespace kf::gen
