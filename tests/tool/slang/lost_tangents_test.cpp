// Calls in which Slang's forward derivatives are 0: the real Slang's code says which.
#include <gmock/gmock.h>

#include "slang/module.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

const std::string tangent_declarations = R"(
public float square(float x) { return x * x; }
[BackwardDerivativeOf(square)]
public void square_backward(inout DifferentialPair<float> x, float g) { x = diffPair(x.p, 2 * x.p * g); }
[BackwardDerivative(square_backward)] public float only(float x) { return x * x; }
[BackwardDerivative(square_backward)] [Differentiable] public float mixed(float x) { return x * x; }
float hidden(float x) { return x * x; }
[Differentiable] public float plain(float x) { return x * x; }
public DifferentialPair<float> square_forward(DifferentialPair<float> x) { return diffPair(x.p * x.p, 2 * x.p * x.d); }
[ForwardDerivative(square_forward)] [BackwardDerivative(square_backward)]
public float both(float x) { return only(x); }
[Differentiable] public float through(float x) { return only(x) + 1; }
public struct Shape
{
    float unused;
    [BackwardDerivative(area_backward)] public static float area(float x) { return x * x; }
    public static void area_backward(inout DifferentialPair<float> x, float g) { x = diffPair(x.p, 2 * x.p * g); }
    [Differentiable] public static float twice(float x) { return area(x) + x; }
}
[TreatAsDifferentiable] public float opaque(float x) { return x * x; }
[TreatAsDifferentiable] public T vague<T : __BuiltinFloatingPointType>(T x) { return x * x; }
[TreatAsDifferentiable] public void stores(float x, out float y) { y = x * x; }
[TreatAsDifferentiable] [ForwardDerivative(square_forward)] public float clear(float x) { return x * x; }
public struct Scale { public float k; [TreatAsDifferentiable] public float of(float x) { return k * x; } }
[Differentiable] public float around(float x) { return opaque(3.0) + x; }
namespace inner { [Differentiable] public float deep(float x) { return square(x); } }
[BackwardDerivative(any_backward)] public T any<T : __BuiltinFloatingPointType>(T x) { return x * x; }
public void any_backward<T : __BuiltinFloatingPointType>(inout DifferentialPair<T> x, T.Differential g) {}
)";

/// The call that the forward derivative of a function with this expression is lost in.
std::string lost_in(const std::string& expression, const std::string& name = "f") {
    ScratchFolder folder;
    const auto path =
        folder.write("lost.slang", tangent_declarations + "[Differentiable] float f(float x) { return " +
                                       expression + "; }\n");
    const Outcome<Module> module = make_compiler()->reflect({path});
    EXPECT_TRUE(module) << expression;
    if (!module) return {};
    return function_named(module.value(), name).lost_tangent.called;
}

TEST(LostTangents, AreOfFunctionsWithABackwardDerivativeAlone) {
    EXPECT_EQ(lost_in("3 * square(x)"), "square");
    EXPECT_EQ(lost_in("only(x) + plain(x)"), "only");
    EXPECT_EQ(lost_in("Shape::area(x)"), "Shape.area");
    EXPECT_EQ(lost_in("any<float>(x)"), "any");
}

TEST(LostTangents, AreOfFunctionsThatAreTreatedAsDifferentiable) {
    EXPECT_EQ(lost_in("3 * opaque(x)"), "opaque");
    EXPECT_EQ(lost_in("vague<float>(x)"), "vague");
    EXPECT_EQ(lost_in("Scale(2).of(x)"), "Scale.of");
    EXPECT_EQ(lost_in("around(x)"), "opaque");
    EXPECT_EQ(lost_in("plain(x)", "opaque"), "opaque") << "its own derivative is 0, and so is its value";
    EXPECT_EQ(lost_in("plain(x)", "vague"), "vague");
}

TEST(LostTangents, AreValuesToo) {
    for (const std::string call : {"no_diff(only(x))", "detach(only(x))", "only(3)"})
        EXPECT_EQ(lost_in(call + " + x"), "only") << call;
    for (const std::string call : {"no_diff(opaque(x))", "detach(opaque(x))", "opaque(3)"})
        EXPECT_EQ(lost_in(call + " + x"), "opaque") << call;
    EXPECT_EQ(lost_in("no_diff(through(x)) + x"), "only");
}

TEST(LostTangents, AreOfOtherModulesFunctions) {
    ScratchFolder folder;
    EXPECT_FALSE(folder.write("below.slang", tangent_declarations).empty());
    const auto path = folder.write("lost.slang",
                                   "import below;\n[Differentiable] float f(float x) { return "
                                   "opaque(x) + x; }\n[Differentiable] float g(float x) { return "
                                   "around(x); }\n[Differentiable] float h(float x) { return "
                                   "vague<float>(x); }\n");
    const Outcome<Module> module = make_compiler()->reflect({path});
    ASSERT_TRUE(module);
    EXPECT_EQ(function_named(module.value(), "f").lost_tangent, (LostTangent{"opaque", true}));
    EXPECT_EQ(function_named(module.value(), "g").lost_tangent, (LostTangent{"opaque", true}));
    EXPECT_EQ(function_named(module.value(), "h").lost_tangent, (LostTangent{"vague", true}));
}

TEST(LostTangents, GoThroughWhatIsDifferentiatedWithTheFunction) {
    EXPECT_EQ(lost_in("through(x) * 2"), "only");
    EXPECT_EQ(lost_in("inner::deep(x)"), "square");
    EXPECT_EQ(lost_in("plain(x)", "inner.deep"), "square");
}

/// What is said of a text that takes the forward derivative of this.
Diagnostics said_of_derivative(const std::string& name) {
    ScratchFolder folder;
    const auto path =
        folder.write("uses.slang", tangent_declarations + "float slope(float x) { return fwd_diff(" + name +
                                       ")(diffPair(x, 1.0)).d; }\n");
    const Outcome<Module> module = make_compiler()->reflect({path});
    return module ? Diagnostics{} : module.errors();
}

// A module may take fwd_diff itself; Slang 2026.14 gives the value of what is treated as differentiable.
TEST(LostTangents, AreRefusedWhereModulesTakeThem) {
    for (const char* name : {"through", "Shape.twice", "Shape::twice", "inner.deep", "inner::deep"}) {
        SCOPED_TRACE(name);
        const Diagnostics errors = said_of_derivative(name);
        ASSERT_EQ(errors.size(), 1U) << describe(errors);
        EXPECT_EQ(errors[0].id, "lost-tangent");
        EXPECT_EQ(errors[0].location.line, 29);
        EXPECT_EQ(errors[0].location.column, 31);
        EXPECT_THAT(errors[0].notes, testing::Contains(testing::HasSubstr("[ForwardDerivative]")));
    }
    for (const char* name : {"plain", "both", "mixed", "clear"})
        EXPECT_EQ(said_of_derivative(name).size(), 0U) << name;
    EXPECT_EQ(said_of_derivative("around").size(), make_compiler()->version() < "2026.14" ? 1U : 0U);
}

TEST(LostTangents, AreNoneWhereAForwardDerivativeIsThere) {
    EXPECT_EQ(lost_in("plain(x) + mixed(x) + both(x)"), "");
    EXPECT_EQ(lost_in("both(x)", "both"), "");
    EXPECT_EQ(lost_in("clear(x)"), "");
    EXPECT_EQ(lost_in("clear(x)", "clear"), "");
    EXPECT_EQ(lost_in("no_diff(hidden(x)) + x"), "");
}

}  // namespace
}  // namespace kf::gen
