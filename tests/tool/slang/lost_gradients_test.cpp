// Where derivatives are lost, the real Slang's code says so; where they are not, nothing is said.
#include "slang/lost_gradients.h"

#include <gmock/gmock.h>

#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string declarations = R"(
public void split(float v, out float whole, out float part) { whole = trunc(v); part = v - whole; }
public bool meets(float3 from, float3 along, out float at) { at = dot(from, along); return at > 0; }
public void double_it(inout float v) { v = 2 * v; }
[Differentiable] public void halve(float v, out float half_of_it) { half_of_it = v / 2; }
public struct Plain { public float a; public float b; public float sum() { return a + b; } }
public struct Made { public float a; public __init(float v) { a = v; } public float twice() { return 2 * a; } }
public Plain plain_of(float v) { return {v, v}; }
public struct Node : IDifferentiable
{
    public float value;
    public no_diff float weight;
    public [mutating] void grow(float by) { value *= by; }
    public property float scaled { get { return value; } set { value = 3 * newValue; } }
    public __subscript(int i) -> float { get { return value; } set { value = newValue; } }
}
public interface IFilter { public void apply(float x, out float y); }
public interface ISmooth { [Differentiable] public void apply(float x, out float y); }
public struct Box<T : __BuiltinFloatingPointType> : IDifferentiable
{
    public T held;
    [Differentiable] public [mutating] void grow(T by) { held = held * by; }
    public [mutating] void shrink(T by) { held = held / by; }
}
public struct Table
{
    [BackwardDerivative(take)] public float at(int i) { return i; }
    void take(int i, float by) {}
}
static Table table;
public float chance(uint seed) { return float(seed & 0xff) / 256; }
)";

/// What is warned of in a function `float f(float x, int n)` of that body.
Diagnostics warnings_for(const std::string& body,
                         const std::string& head = "[Differentiable] float f(float x, int n)") {
    ScratchFolder folder;
    const auto path = folder.write("lost.slang", declarations + head + "\n{\n" + body + "\n}\n");
    const auto compiler = make_compiler();
    const Outcome<Module> module = compiler->reflect({path});
    EXPECT_TRUE(module) << body;
    Diagnostics lost = module.warnings();
    std::erase_if(lost, [](const Diagnostic& one) { return one.id != "gradient-lost"; });
    return lost;
}

std::int64_t line_in_body(const Diagnostic& warning) {
    return warning.location.line - 2 - std::count(declarations.begin(), declarations.end(), '\n');
}

TEST(LostGradients, AreNamedWithFunctionAndLine) {
    const Diagnostics warnings =
        warnings_for("float whole; float part;\n  split(x, whole, part);\nreturn x + part;");
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].severity, Severity::warning);
    EXPECT_THAT(warnings[0].location.file, EndsWith("lost.slang"));
    EXPECT_EQ(line_in_body(warnings[0]), 2);
    EXPECT_EQ(warnings[0].location.column, 3);
    EXPECT_THAT(warnings[0].message, HasSubstr("'f' loses the derivative of what goes into 'split'"));
    EXPECT_THAT(warnings[0].notes,
                ElementsAre("mark 'split' [Differentiable]", HasSubstr("no_diff before the call")));
}

TEST(LostGradients, InEveryCallThatSlangSaysNothingOf) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"Node node; node.value = smoothstep(0.0f, 1.0f, x); return node.value + x;", "smoothstep"},
        {"Node node; node.value = smoothstep(0.0f, 1.0f, table.at(n)); return node.value;", "smoothstep"},
        {"float at; if (meets(float3(x), float3(1), at)) return at; return x;", "meets"},
        {"float v = x * x; double_it(v); return v;", "double_it"},
        {"float a[2]; float p; split(x, a[n & 1], p); return a[0] * x;", "split"},
        {"float w = 0; float p = 0;\n[MaxIters(4)] for (int i = 0; i < n; i++) split(x * i, w, p);\nreturn "
         "p;",
         "split"},
        {"Plain p = {x, x}; return p.a;", "Plain"},
        {"return plain_of(x).b;", "plain_of"},
        {"Made m = Made(x); return m.twice();", "Made"},
        {"Node s; s.value = x; s.weight = 0; s.grow(2); return s.value;", "Node.grow"},
        {"Node s; s.value = 0; s.weight = 0; s.scaled = x; return s.value;", "Node.scaled"},
        {"Node s; s.value = 0; s.weight = 0; s[0] = x; return s.value;", "Node.operator[]"},
        {"Box<float> b; b.held = x; b.shrink(x); return b.held;", "Box.shrink"},
        {"return x + asfloat(asuint(x) & 0x7fffffff);", "asuint"},
        {"return bit_cast<float>(bit_cast<int>(x));", "bit_cast"},
        {"return f16tof32(f32tof16(x));", "f32tof16"},
    };
    for (const auto& [body, cause] : cases) {
        SCOPED_TRACE(body);
        const Diagnostics warnings = warnings_for(body);
        ASSERT_EQ(warnings.size(), 1U);
        EXPECT_THAT(warnings[0].message, HasSubstr("into '" + cause + "'"));
        EXPECT_GT(warnings[0].location.line, 0);
    }
}

TEST(LostGradients, ConcernWhatDerivativesOfCallsReach) {
    const std::string text = R"(
void split(float v, out float whole) { whole = trunc(v); }
[Differentiable] float used(float x) { float whole; split(x, whole); return whole * x; }
[Differentiable] float helper(float x) { float whole; split(x, whole); return whole * x; }
[Differentiable] float caller(float x) { return helper(x) * x; }
[Differentiable] float unused(float x) { float whole; split(x, whole); return whole * x; }
struct S : IDifferentiable
{
    float a;
    [Differentiable] float called(float x) { float whole; split(x, whole); return whole * x; }
    [Differentiable] float idle(float x) { float whole; split(x, whole); return whole * x; }
}
[Differentiable] float by_method(float x) { S s; s.a = x; return s.called(x); }
interface ICurve { [Differentiable] float eval(float x); }
struct Line : ICurve { [Differentiable] float eval(float x) { float whole; split(x, whole); return whole * x; } }
[Differentiable] float by_object(no_diff ICurve curve, float x) { return curve.eval(x); }
[Differentiable] float inner(float x) { float whole; split(x, whole); return whole * x; }
float slope(float x) { return fwd_diff(inner)(diffPair(x, 1.0f)).d; }
[BackwardDerivative(own_backward)] float own(float x) { return x; }
void own_backward(inout DifferentialPair<float> x, float by) { bwd_diff(inner)(x, by); }
)";
    ScratchFolder folder;
    const auto path = folder.write("lost.slang", text);
    using Names = std::vector<std::string>;
    struct Case {
        Names functions, differentiated, lost;
    };
    for (const Case& row :
         {Case{{"used", "unused", "caller"}, {}, {}}, Case{{"used", "unused"}, {"used"}, {"used"}},
          Case{{"caller"}, {"caller"}, {"helper"}}, Case{{"by_method"}, {"by_method"}, {"S.called"}},
          Case{{"S.idle"}, {"S.idle"}, {"S.idle"}}, Case{{"by_object"}, {"by_object"}, {"Line.eval"}},
          Case{{"slope"}, {}, {"inner"}}, Case{{"own"}, {"own"}, {"inner"}},
          Case{{"own", "used"}, {}, {"inner"}}}) {
        SCOPED_TRACE(testing::PrintToString(row.functions));
        CompilerOptions options;
        options.functions = row.functions;
        options.differentiated = row.differentiated;
        const Outcome<Module> module = make_compiler(options)->reflect({path});
        ASSERT_TRUE(module) << describe(module.errors());
        Names lost;
        for (const Diagnostic& one : module.warnings()) {
            if (one.id == "gradient-lost")
                lost.push_back(one.message.substr(1, one.message.find('\'', 1) - 1));
        }
        EXPECT_EQ(lost, row.lost);
    }
}

TEST(LostGradients, AreKeptByWhatIsMarkedNoDiff) {
    const auto kept_in = [](const std::string& body) {
        ScratchFolder folder;
        const auto path =
            folder.write("kept.slang", declarations +
                                           "[Differentiable] float square(float x) { return x * x; }\n"
                                           "[TreatAsDifferentiable] float opaque(float x) { return x; }\n"
                                           "#define UNSEEN(x) no_diff square(x)\n"
                                           "[Differentiable] float f(float x, int n)\n{\n" +
                                           body + "\n}\n");
        const Outcome<Module> module = make_compiler()->reflect({path});
        EXPECT_TRUE(module) << body;
        std::string found;
        for (const Diagnostic& one : module.warnings()) {
            if (one.id == "no-diff-ignored" || one.id == "gradient-lost")
                found += one.message.substr(0, one.message.find(" in spite")) + ";";
        }
        return found;
    };
    EXPECT_EQ(kept_in("float half_of_it; no_diff(halve(x, half_of_it)); return half_of_it;"),
              "'f' has the derivative of 'halve';");
    EXPECT_EQ(kept_in("return UNSEEN(x) + x;"), "'f' has the derivative of 'square';");
    EXPECT_EQ(kept_in("no_diff(square(x)); return x;"), "") << "its value isn't used";
    EXPECT_EQ(kept_in("float h; no_diff(halve(x, h)); return detach(h) + (h > 1 ? x : 2);"), "");
    EXPECT_EQ(kept_in("return x + no_diff(square(x)) + no_diff square(detach(x)) + no_diff(opaque(x));"), "");
    EXPECT_EQ(kept_in("return x + detach(UNSEEN(x)) + (no_diff(plain_of(x))).b;"), "");
    EXPECT_EQ(kept_in("Plain p = no_diff(plain_of(x)); return p.a + x * no_diff(chance(n));"), "");
}

TEST(LostGradients, InGenericFunctionsMethodsAndWhatGivesByInout) {
    const std::string call = "{ float y; filter.apply(x, y); return y; }\n";
    const std::string generic =
        "return x;\n}\n[Differentiable] float g<F : IFilter>(no_diff F filter, float x) " + call;
    const Diagnostics warnings = warnings_for(generic + "float unused() { return 0;");
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0].message, HasSubstr("'g' loses the derivative of what goes into 'IFilter.apply'"));
    const std::string smooth =
        "return x;\n}\n[Differentiable] float g<F : ISmooth>(no_diff F filter, float x) " + call;
    EXPECT_THAT(warnings_for(smooth + "float unused() { return 0;"), IsEmpty());
    EXPECT_EQ(warnings_for("double_it(x);", "[Differentiable] void f(inout float x)").size(), 1U);
}

TEST(LostGradients, NotWhereNothingIsLostOrItIsMeant) {
    for (const std::string body : {
             "float y; halve(x, y); return y;",
             "float s; float c; sincos(x, s, c); return s * c;",
             "Box<float> b; b.held = x; b.grow(x); return b.held;",
             "float w; float p; split(detach(x), w, p); return p * x;",
             "float w; float p; no_diff split(x, w, p); return p * x;",
             "float w; float p; split(2.5, w, p); return p * x;",
             "float w; float p; split(x, w, p); return w > 1 ? x : 2 * x;",
             "float w; float p; split(x, w, p); p = x * x; return p;",
             "float at; bool met = meets(float3(x), float3(1), at); return met ? x : -x;",
             "Node s; s.value = x; s.weight = 3; float w; float p; split(s.weight, w, p); return p * "
             "s.value;",
             "return x * chance(asuint(x));",
             "return float(int(x)) + x;",
             "Plain p = no_diff plain_of(x); return x * p.a;",
         }) {
        EXPECT_THAT(warnings_for(body), IsEmpty()) << body;
    }
    EXPECT_THAT(warnings_for("float w; float p; split(x, w, p); return p;", "float f(float x, int n)"),
                IsEmpty());
    // Its own code isn't differentiated.
    EXPECT_THAT(warnings_for("float w; float p; split(x, w, p); return p;\n}\n"
                             "void f_bwd(inout DifferentialPair<float> x, float flowing)\n{\n"
                             "x = diffPair(x.p, flowing);",
                             "[BackwardDerivative(f_bwd)] float f(float x)"),
                IsEmpty());
}

}  // namespace
}  // namespace kf::gen
