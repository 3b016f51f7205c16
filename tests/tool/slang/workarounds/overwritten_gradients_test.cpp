// Where Slang would overwrite gradients of what calls have written, kfgen goes round it or says so.
#include "slang/workarounds/overwritten_gradients.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string elsewhere_text = R"(
[Differentiable] public float away(float x, out float c) { c = x * x; return x; }
[Differentiable] public float fill(float x, out float c[3]) { for (int i = 0; i < 3; ++i) c[i] = x * i; return x; }
public struct Trail : IDifferentiable
{
    public float last;
    public float steps[3];
    [Differentiable] [mutating] public float grow(float x) { last = last * x + x; return x; }
    [Differentiable] public float get(float x) { return last * steps[1] * x; }
}
)";
/// Gives the code of a module of functions f0, f1 and so on, one for each body, at the ends of lines 3, 4 …
Diagnostics warnings_of(const std::vector<std::string>& bodies) {
    std::string text = "import elsewhere;\n\n";
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        text += "[Differentiable] float f" + std::to_string(i) + "(float x, int n) { float s = 0; " +
                bodies[i] + " return s; }\n";
    }
    ScratchFolder folder;
    const auto imported = folder.write("elsewhere.slang", elsewhere_text);
    const auto path = folder.write("m.slang", text);
    const Outcome<Module> module = make_compiler()->reflect({path, imported});
    EXPECT_TRUE(module) << describe(module.errors());
    Diagnostics found = module.warnings();
    std::erase_if(found, [](const Diagnostic& one) { return one.id != "gradient-overwritten"; });
    return found;
}

const std::string loop = "[MaxIters(4)] for (int i = 0; i < 4; ++i) ";
const std::string trail = "Trail t = {x, {x, x, x}}; ";

// Where what another module's function returns is used, the text doesn't show that it writes.
TEST(OverwrittenGradients, WhereABlockRunsMoreOftenThanTheCallOrLess) {
    const std::vector<std::string> bodies = {
        trail + "s = away(x, t.last) * x; " + loop + "s += t.last;",
        trail + "if (away(x, t.steps[1]) > 0) s = 1; " + loop + "s += t.steps[1] * x;",
        "float t[3]; s = fill(x, t); " + loop + "s += t[i % 3];",
        loop + "{ " + trail + "s += away(x * i, t.last); if (i % 2 == 0) s += t.last; }",
        loop + "{ " + trail + "s += away(x * i, t.last); s += i > 1 ? t.last : s; s += t.last; }",
        trail + loop + "{ s += away(x * i, t.last); if (i == n) return t.last; }",
    };
    const Diagnostics warnings = warnings_of(bodies);
    ASSERT_EQ(warnings.size(), bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        SCOPED_TRACE(bodies[i]);
        const std::string callee = i == 2 ? "fill" : "away";
        EXPECT_EQ(warnings[i].severity, Severity::warning);
        EXPECT_THAT(warnings[i].location.file, EndsWith("m.slang"));
        EXPECT_EQ(warnings[i].location.line, static_cast<std::int64_t>(i) + 3);
        EXPECT_EQ(warnings[i].location.column,
                  static_cast<std::int64_t>(bodies[i].find(callee)) + 1 +
                      static_cast<std::int64_t>(
                          std::string("[Differentiable] float f0(float x, int n) { float s = 0; ").size()));
        EXPECT_THAT(warnings[i].message,
                    HasSubstr("'f" + std::to_string(i) + "' reads 't' in a loop or a branch as '" + callee +
                              "' has written it"));
        EXPECT_THAT(warnings[i].notes, ElementsAre(HasSubstr("a function that returns its argument")));
    }
}

TEST(OverwrittenGradients, NotWhereSlangIsRightOrTheTextIsChanged) {
    EXPECT_THAT(warnings_of({
                    // In the call's block, where several calls may have written, or behind the loop.
                    loop + "{ " + trail + "s += away(x * i, t.last) + t.last; }",
                    trail + loop + "{ if (i > 1) s += away(x * i, t.last); s += t.last; }",
                    trail + loop + "{ s += away(x * i, t.last); if (i == n) break; } s += t.last;",
                    // A whole that is read by parts.
                    trail + "s = t.grow(x); " + loop + "s += t.last + t.steps[i % 3] + t.get(x);",
                    "float c[3]; s = fill(x, c); " + loop + "s += c[1];",
                    // Copied behind the call.
                    trail + "away(x, t.last); " + loop + "s += t.last;",
                    "float c[3]; fill(x, c); " + loop + "s += c[i % 3];",
                    // Without a derivative.
                    trail + "s = away(x, t.last) * x; " + loop + "if (t.last > i) s += x;",
                }),
                IsEmpty());
}

}  // namespace
}  // namespace kf::gen
