// Where scalar parameters get another name for Slang's sake, and where they don't.
#include "slang/workarounds/scalar_renames.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

std::string with_scalars_renamed(std::string_view text) {
    ModuleText module{std::string(text)};
    rename_scalars(module, RenamedScalars::behind_loops);
    rename_scalars(module, RenamedScalars::behind_calls);
    rename_scalars(module, RenamedScalars::parameters);
    return module.changed();
}

// What is inserted into the text, each after a line's end; "" for nothing.
std::string inserted(const std::string& text) {
    const std::string changed_text = with_scalars_renamed(text);
    std::string statements;
    for (std::size_t end = 0; (end = changed_text.find(" \n#line ", end)) != std::string::npos; ++end) {
        const std::size_t start = changed_text.rfind('\n', end - 1) + 1;
        statements += changed_text.substr(start, end + 1 - start);
    }
    return statements;
}

struct CopyCase {
    const char* text;
    const char* statements;
};

class ScalarGradients : public testing::TestWithParam<CopyCase> {};

INSTANTIATE_TEST_SUITE_P(
    Functions, ScalarGradients,
    testing::Values(
        CopyCase{"[Differentiable] float3 f(float a, float3 b) { return a * b; }", "var a = -(-a); { } "},
        CopyCase{"[BackwardDifferentiable]\n[ForceInline]\nfloat f(in double a = 1.5)\n{ return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"[PreferRecompute, Differentiable] func f(a : half, b : float3) -> float3 { return a * b; }",
                 "var a = -(-a); { } "},
        CopyCase{"struct S { [Differentiable] __init(float a, float c) { x = a; } }",
                 "var a = -(-a); var c = -(-c); { } "},
        CopyCase{"[Differentiable] S operator*(float a, S b) { return b; }", "var a = -(-a); { } "},
        CopyCase{"#define real float\n[Differentiable] float3 f(real a, float3 b) { return a * b; }",
                 "var a = -(-a); { } "},
        CopyCase{"#define AD [PreferRecompute] [Differentiable]\nAD float f(float a) { return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"typedef float Real; [Differentiable] float f(Real a) { return a; }", "var a = -(-a); { } "},
        CopyCase{"public typealias Real = half; [Differentiable] half f(Real a) { return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"[Differentiable] T f<T : __BuiltinFloatingPointType, let N : int>(T a, vector<T, N> b) { "
                 "return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"[Differentiable] T f<T>(T a) where T : __BuiltinFloatingPointType { return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"struct S<T : __BuiltinFloatingPointType> { [Differentiable] T f(T a) { return a; } }",
                 "var a = -(-a); { } "},
        CopyCase{"[Differentiable] T f<T : IDifferentiable & __BuiltinFloatingPointType>(T a) { return a; }",
                 "var a = -(-a); { } "},
        CopyCase{
            "[Differentiable] T f<T>(T a) where T : IDifferentiable, __BuiltinFloatingPointType { return a; "
            "}",
            "var a = -(-a); { } "},
        CopyCase{"__generic<T : __BuiltinFloatingPointType> [Differentiable] T f(T a) { return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"[Differentiable] float3 f(precise float a, float3 b) { float3 a = b; return a; }",
                 "var a = -(-a); { } "},
        CopyCase{"#define AD Differentiable\n[AD] float f(float a) { return a; }", "var a = -(-a); { } "},
        CopyCase{
            "#ifndef GUARD\n#define GUARD\ntypedef float Real;\n[Differentiable] float f(Real a) { return "
            "a; }"
            "\n#endif",
            "var a = -(-a); { } "},
        CopyCase{
            "[Differentiable] float3 f(uniform float a, nointerpolation in b : float, float3 c) { return a; "
            "}",
            "var a = -(-a); var b = -(-b); { } "},
        CopyCase{"#include \"ad.h\"\nEXPORT AD float3 f(float a, float3 b) { return a * b; }",
                 "var a = -(-a); { } "},
        CopyCase{"struct S { [mutating] AD [ForceInline] float3 f(float a) { return a; } }",
                 "var a = -(-a); { } "},
        CopyCase{"namespace N { typedef float Real; } struct S { typealias R2 = double; }\n"
                 "[Differentiable] float3 f(N::Real a, in N.Real b, S::R2 c, Real d) { return a; }",
                 "var a = -(-a); var b = -(-b); var c = -(-c); var d = -(-d); { } "},
        CopyCase{
            "#if A\nvoid f(int i,\n#else\nvoid f(\n#endif\n int j) {}\n[Differentiable] float g(float a) {}",
            "var a = -(-a); { } "}));

INSTANTIATE_TEST_SUITE_P(
    Others, ScalarGradients,
    testing::Values(
        CopyCase{"float3 f(float a, float3 b) { return a * b; }", ""},
        CopyCase{"[Differentiable] float f(float3 a, int b, Tensor<float, 1> c, float d[2]) { return 0; }",
                 ""},
        CopyCase{"[Differentiable] void f(inout float a, out float b, no_diff float c, in out float d) {}",
                 ""},
        CopyCase{"[Differentiable] void f(uniform inout float a, no_diff in float b, ref float c) {}", ""},
        CopyCase{"interface I { [Differentiable] float f(float a); } float g(float a) { return a; }", ""},
        CopyCase{"MACRO(x) float f(float a) { return a; } API struct S { float f(float a) { return a; } }",
                 ""},
        CopyCase{"namespace N { typedef float Real; } namespace M { struct Real {} }\n"
                 "[Differentiable] float3 f(M::Real a) { return 0; }",
                 ""},
        CopyCase{
            "[Differentiable] float f(float a) { __target_switch { case cuda: __intrinsic_asm \"f($0)\"; } }",
            ""},
        CopyCase{"[Differentiable] T f<T : IFloat>(T a) { return a; }", ""},
        CopyCase{"struct S<T : __BuiltinFloatingPointType> {} [Differentiable] T f<T : IArithmetic>(T a) { "
                 "return a; }",
                 ""},
        CopyCase{"property float x { [Differentiable] get { return g(1); } } float h(float a) { return a; }",
                 ""},
        CopyCase{
            "// [Differentiable]\nfloat f(float a) { return a; } /* [Differentiable] */ float g(float a) {}",
            ""},
        CopyCase{"static const String s = \"[Differentiable]\"; float f(float a) { return a; }", ""},
        CopyCase{"typedef float Real; [Differentiable] float f<Real : IScale>(Real a) { return a.x; }", ""},
        CopyCase{
            "typedef float Real; struct S<Real : IScale> { [Differentiable] float f(Real a) { return a.x; } "
            "}",
            ""},
        CopyCase{
            "typedef float Real; struct S { typedef float3 Real; [Differentiable] float f(Real a) { return "
            "0; } }",
            ""},
        CopyCase{"#if 0\ntypedef float Real;\n#define real float\n#endif\n"
                 "[Differentiable] float f(Real a, real b) { return 0; }",
                 ""},
        CopyCase{"#define real float\n#undef real\n[Differentiable] float f(real a) { return 0; }", ""},
        CopyCase{"[Differentiable] float f(float a\n#ifdef B\n, float b\n#endif\n) { return a; }", ""},
        CopyCase{"[Differentiable] float f(float a)\n#ifdef B\n{\n#else\n{\n#endif\n return a; }\n"
                 "float g() { const float a = 1; for (;;) x += a; }",
                 ""},
        CopyCase{"DEFINE([Differentiable] float f(float a) { return a; })", ""},
        CopyCase{"[Differentiable] float f(float a) BODY\nstruct S { float b; }", ""},
        CopyCase{"[Differentiable] float f(float a) { return apply((float x) => { return x * a; }); }", ""},
        CopyCase{"[Differentiable] float f(float a) { typealias a = int; return 0; }", ""},
        CopyCase{"[Differentiable] float f(float a", ""}, CopyCase{"[Differentiable", ""},
        CopyCase{"}} Differentiable", ""}));

// The function around them has no scalar parameter of its own.
INSTANTIATE_TEST_SUITE_P(
    Loops, ScalarGradients,
    testing::Values(
        CopyCase{
            "[Differentiable] float3 f(float3 b) { float t = 1, u = g(1, 2), v; for (;;) { t *= 2; v = 1; } "
            "return b * t; }",
            "t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { half t = 0; while (t < 2) t++; { float u = 0; } do { u = "
            "t; } "
            "while (t < 3); }",
            "t = -(-t); t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { float t = 0; for (;;) if (x) { } else for (;;) t++; x = t; "
            "}",
            "t = -(-t); "},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; if (x) for (;;) t++; else t--; }", ""},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; do while (x) t++; while (x); }",
                 "t = -(-t); "},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; for (float u = 0; u < 1; u++) s.t *= u; }",
                 ""},
        CopyCase{"[Differentiable] void f(float3 b) { const float t = 0; let u = 1.0; for (;;) g(t, u); }",
                 ""},
        CopyCase{"void f(float3 b) { float t = 0; for (;;) t++; } [Differentiable] void g() {}", ""},
        CopyCase{"[Differentiable] void f(float a) { for (;;) a *= 2; }", "var a = -(-a); { a = -(-a); } "},
        CopyCase{"[Differentiable] void f(out float a) { float w; w = a = 1; for (;;) w += a; }",
                 "a = -(-a); w = -(-w); "},
        CopyCase{
            "[Differentiable] void f(inout float a, out float b) { float c; for (;;) { a *= 2; b = c = a; } "
            "}",
            "a = -(-a); "},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; for (;;) b = { b.x * t, b.y }; b *= t; }",
                 "t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { float t = 0; { let t = b; for (;;) b += t; } for (;;) t++; "
            "}",
            "t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { float t = 0; { vector<float, 3> t = b; for (;;) b += t; } "
            "{ float3 c = b, t = b; for (;;) b += t; } for (float3 t = b;;) { for (;;) b += t; } }",
            "t = -(-t); "},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; if (b.x < 1 && b.y > t) for (;;) t++; }",
                 "t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { float t = 1; float3 s = b; s += b, t += 2; a[i](1).x = 2, "
            "t = 1; "
            "for (;; t++, t += 1) { } }",
            "t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { float t = 1; { N::S<2> s = b, t = b; for (;;) b += t; } "
            "{ float3 s = {1, 2}, t = b; for (;;) b += t; } }",
            ""},
        CopyCase{"[Differentiable] void f(int i) { precise float t = 0; switch (i) { case 0: float u = 1; "
                 "for (;;) t += u; } }",
                 "t = -(-t); u = -(-u); "},
        CopyCase{
            "[Differentiable] void f(float3 b) { for (float t = 0, u = b.x; t < 1;) { for (;;) t += u; } "
            "for (;;) b *= t; }",
            "t = -(-t); u = -(-u); "},
        CopyCase{"[Differentiable] void f(float3 b) { float t = 0; [MaxIters(3)] LOOP(3) { t += 1; } b *= t; "
                 "FOREVER { t += 2; } b *= t; IF(x) { t = 1; } ELSE { t = 2; } }",
                 "t = -(-t); t = -(-t); t = -(-t); "},
        CopyCase{
            "[Differentiable] void f(float a) { var t = 0.0f; var u = float(b); var v = a; var w : half = 1; "
            "var i = 1; var x = b; var y = 1.0 * b; for (;;) g(t, u, v, w, i, x, y); }",
            "var a = -(-a); { t = -(-t); u = -(-u); v = -(-v); w = -(-w); } "},
        CopyCase{"typedef float Real; namespace N { typedef half Real2; } [Differentiable] void f(int i) { "
                 "N::Real2 t = 0; N.Real2 u = 0; Real v = 0; for (;;) g(t, u, v); }",
                 "t = -(-t); u = -(-u); v = -(-v); "},
        CopyCase{
            "struct S { __subscript(int i) -> float3 { [Differentiable] get { float t = 0; for (;;) t++; "
            "return t; } } }",
            "t = -(-t); "},
        CopyCase{"[Differentiable] void f() { float t = 0; for (", ""},
        CopyCase{"[Differentiable] void f() { do", ""}));

// What calls write gets another name behind them, or before the loops that read it.
INSTANTIATE_TEST_SUITE_P(
    Calls, ScalarGradients,
    testing::Values(
        CopyCase{"[Differentiable] void f(float3 b) { float c, s; sincos(b.x, s, c); g(c); }",
                 "s = -(-s); c = -(-c); c = -(-c); "},
        CopyCase{"[Differentiable] void f(float3 b) { float c, s = 1; float d = g(b.x, s, c); }",
                 "c = -(-c); "},
        CopyCase{"[Differentiable] bool h(float3 a, inout float b) { b = a.x; return true; } "
                 "[Differentiable] void f(float3 b) { float c = 1; bool d = h(b, c); }",
                 "b = -(-b); c = -(-c); "},
        CopyCase{"[Differentiable] void f(inout float3 b) { m.g(b); N::g(b.x); b = g(b); }", "b = -(-b); "},
        CopyCase{
            "[Differentiable] void f(int b) { half2x2 c; vector<float, 3> d; int e; Foo<4> h; float3 k[2]; "
            "g(c, d, e, h, k); let m = c; g(m); }",
            "c = -(-c); d = -(-d); "},
        CopyCase{"[Differentiable] void f(float3 b) { float c = 1; if (x) g(c); else { } "
                 "[MaxIters(3)] for (;;) b += c; while (b.x) { } return g(c); }",
                 "c = -(-c); c = -(-c); "},
        CopyCase{"[Differentiable] void f(float3 b) { float3 c; if (g(b.x, c)) { for (;;) b += c; } "
                 "do { b += c; } while (g(c)); if (x) for (;;) b += c; }",
                 "c = -(-c); c = -(-c); "}));

TEST_P(ScalarGradients, AreKept) { EXPECT_EQ(inserted(GetParam().text), GetParam().statements); }

TEST(ScalarGradientsOf, LinesAndColumnsStay) {
    EXPECT_EQ(
        with_scalars_renamed("import kf;\n/*é*/[Differentiable] float f(float a) { return a; }\nint n;\n"),
        "import kf;\n/*é*/[Differentiable] float f(float a) {\nvar a = -(-a); { \n#line 2\n"
        "                                         return a; \n} \n#line 2\n"
        "                                                   }\nint n;\n");
}

TEST(ScalarGradientsOf, LinesStayBehindBranchesThatAreLeftOut) {
    EXPECT_EQ(
        with_scalars_renamed("#if 0\n[Differentiable] float f(float a) {\n}\n#else  /* a\nb */\nint n;\n"
                             "#endif\nint m;\n#endif"),
        "#if 0\n[Differentiable] float f(float a) {\nvar a = -(-a); { \n#line 2\n"
        "                                   \n\n} \n#line 3\n}\n#else  /* a\nb */\n#line 6\nint n;\n"
        "#endif\n#line 8\nint m;\n#endif");
}

TEST(ScalarGradientsOf, DirectivesOfTheUsersStay) {
    EXPECT_EQ(with_scalars_renamed("#line 7\n[Differentiable] float f(float a) { return a; }"),
              "#line 7\n[Differentiable] float f(float a) { var a = -(-a); {  return a;  } }");
}

}  // namespace
}  // namespace kf::gen
