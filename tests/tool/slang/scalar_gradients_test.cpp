// Where scalar parameters get another name for Slang's sake, and where they don't.
#include "slang/scalar_gradients.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

// What is inserted into the text, each after a line's end; "" for nothing.
std::string inserted(const std::string& text) {
    const std::string changed = keep_scalar_gradients(text);
    std::string statements;
    for (std::size_t end = 0; (end = changed.find("\n#line ", end)) != std::string::npos; ++end) {
        const std::size_t start = changed.rfind('\n', end - 1) + 1;
        statements += changed.substr(start, end - start);
    }
    return statements;
}

struct Case {
    const char* text;
    const char* statements;
};

class ScalarGradients : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Functions, ScalarGradients,
    testing::Values(
        Case{"[Differentiable] float3 f(float a, float3 b) { return a * b; }", "var a = -(-a); "},
        Case{"[BackwardDifferentiable]\n[ForceInline]\nfloat f(in double a = 1.5)\n{ return a; }",
             "var a = -(-a); "},
        Case{"[PreferRecompute, Differentiable] func f(a : half, b : float3) -> float3 { return a * b; }",
             "var a = -(-a); "},
        Case{"struct S { [Differentiable] __init(float a, float c) { x = a; } }",
             "var a = -(-a); var c = -(-c); "},
        Case{"[Differentiable] S operator*(float a, S b) { return b; }", "var a = -(-a); "},
        Case{"#define real float\n[Differentiable] float3 f(real a, float3 b) { return a * b; }",
             "var a = -(-a); "},
        Case{"#define AD [PreferRecompute] [Differentiable]\nAD float f(float a) { return a; }",
             "var a = -(-a); "},
        Case{"typedef float Real; [Differentiable] float f(Real a) { return a; }", "var a = -(-a); "},
        Case{"public typealias Real = half; [Differentiable] half f(Real a) { return a; }",
             "var a = -(-a); "},
        Case{"[Differentiable] T f<T : __BuiltinFloatingPointType, let N : int>(T a, vector<T, N> b) { "
             "return a; }",
             "var a = -(-a); "},
        Case{"[Differentiable] T f<T>(T a) where T : __BuiltinFloatingPointType { return a; }",
             "var a = -(-a); "},
        Case{"struct S<T : __BuiltinFloatingPointType> { [Differentiable] T f(T a) { return a; } }",
             "var a = -(-a); "}));

INSTANTIATE_TEST_SUITE_P(
    Others, ScalarGradients,
    testing::Values(
        Case{"float3 f(float a, float3 b) { return a * b; }", ""},
        Case{"[Differentiable] float f(float3 a, int b, Tensor<float, 1> c, float d[2]) { return 0; }", ""},
        Case{"[Differentiable] void f(inout float a, out float b, no_diff float c, in out float d) {}", ""},
        Case{"interface I { [Differentiable] float f(float a); } float g(float a) { return a; }", ""},
        Case{"[Differentiable] float f(float a) { float a = 1; return a; }", ""},
        Case{
            "[Differentiable] float f(float a) { __target_switch { case cuda: __intrinsic_asm \"f($0)\"; } }",
            ""},
        Case{"[Differentiable] T f<T : IFloat>(T a) { return a; }", ""},
        Case{"struct S<T : __BuiltinFloatingPointType> {} [Differentiable] T f<T : IArithmetic>(T a) { "
             "return a; }",
             ""},
        Case{"property float x { [Differentiable] get { return g(1); } } float h(float a) { return a; }", ""},
        Case{"// [Differentiable]\nfloat f(float a) { return a; } /* [Differentiable] */ float g(float a) {}",
             ""},
        Case{"static const String s = \"[Differentiable]\"; float f(float a) { return a; }", ""},
        Case{"[Differentiable] float f(float a", ""}, Case{"[Differentiable", ""},
        Case{"}} Differentiable", ""}));

// The function around them has no scalar parameter of its own.
INSTANTIATE_TEST_SUITE_P(
    Loops, ScalarGradients,
    testing::Values(
        Case{"[Differentiable] float3 f(float3 b) { float t = 1, u = g(1, 2), v; for (;;) { t *= 2; v = 1; } "
             "return b * t; }",
             "t = -(-t); "},
        Case{"[Differentiable] void f(float3 b) { half t = 0; while (t < 2) t++; { float u = 0; } do { u = "
             "t; } "
             "while (t < 3); }",
             "t = -(-t); t = -(-t); "},
        Case{"[Differentiable] void f(float3 b) { float t = 0; for (;;) if (x) { } else for (;;) t++; x = t; "
             "}",
             "t = -(-t); "},
        Case{"[Differentiable] void f(float3 b) { float t = 0; if (x) for (;;) t++; else t--; }", ""},
        Case{"[Differentiable] void f(float3 b) { float t = 0; do while (x) t++; while (x); }",
             "t = -(-t); "},
        Case{"[Differentiable] void f(float3 b) { float t = 0; for (float u = 0; u < 1; u++) s.t *= u; }",
             ""},
        Case{"[Differentiable] void f(float3 b) { const float t = 0; let u = 1.0; for (;;) g(t, u); }", ""},
        Case{"void f(float3 b) { float t = 0; for (;;) t++; } [Differentiable] void g() {}", ""},
        Case{"[Differentiable] void f(float a) { for (;;) a *= 2; }", "var a = -(-a); a = -(-a); "},
        Case{"[Differentiable] void f() { float t = 0; for (", ""},
        Case{"[Differentiable] void f() { do", ""}));

TEST_P(ScalarGradients, AreKept) { EXPECT_EQ(inserted(GetParam().text), GetParam().statements); }

TEST(ScalarGradientsOf, LinesAndColumnsStay) {
    EXPECT_EQ(
        keep_scalar_gradients("import kf;\n  [Differentiable] float f(float a) { return a; }\nint n;\n"),
        "import kf;\n  [Differentiable] float f(float a) {\nvar a = -(-a); \n#line 2\n"
        "                                      return a; }\nint n;\n");
}

TEST(ScalarGradientsOf, DirectivesOfTheUsersStay) {
    EXPECT_EQ(keep_scalar_gradients("#line 7\n[Differentiable] float f(float a) { return a; }"),
              "#line 7\n[Differentiable] float f(float a) { var a = -(-a);  return a; }");
}

TEST(ScalarGradientsOf, ReleasesOfSlang) {
    EXPECT_TRUE(slang_loses_scalar_gradients("2026.12"));
    EXPECT_TRUE(slang_loses_scalar_gradients("v2026.14.1"));
    EXPECT_TRUE(slang_loses_scalar_gradients("unknown"));
    EXPECT_FALSE(slang_loses_scalar_gradients("2026.16"));
    EXPECT_FALSE(slang_loses_scalar_gradients("2026.16.1-3-gabcdef"));
    EXPECT_FALSE(slang_loses_scalar_gradients("2027.1"));
}

}  // namespace
}  // namespace kf::gen
