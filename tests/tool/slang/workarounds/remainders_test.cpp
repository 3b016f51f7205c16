// Which calls of fmod() become others.
#include "slang/workarounds/remainders.h"

#include <gtest/gtest.h>

#include <regex>

namespace kf::gen {
namespace {

/// The text with its calls renamed, without the functions at its end.
std::string with_own_remainders(const std::string& text) {
    ModuleText module{text};
    remainders.change_text(module);
    const bool changed = module.text != text;
    EXPECT_EQ(module.insertions.size(), changed ? 2U : 0U) << text;
    EXPECT_EQ(module.text.size(), text.size());
    return std::regex_replace(module.text, std::regex("kfm_"), "own");
}

TEST(Remainders, CallsAreRenamed) {
    EXPECT_EQ(with_own_remainders(
                  "[Differentiable] float f(float x, float y) { if (x > fmod(x, y)) return fmod(y, x); "
                  "float2 v = 2 * fmod<float, 2>(x, fmod(y, 2)); return v.x; }"),
              "[Differentiable] float f(float x, float y) { if (x > own(x, y)) return own(y, x); "
              "float2 v = 2 * own<float, 2>(x, own(y, 2)); return v.x; }");
    EXPECT_EQ(
        with_own_remainders("#define REST(x) ((x) > 1 ? 1 : fmod(x, 2) + ns :: fmod(x, 2))\n"
                            "[Differentiable] float f(float x, float y) { return x > 1 ? x : fmod(x, y); }"),
        "#define REST(x) ((x) > 1 ? 1 : own(x, 2) + ns :: fmod(x, 2))\n"
        "[Differentiable] float f(float x, float y) { return x > 1 ? x : own(x, y); }")
        << "a colon alone is no scope";
    EXPECT_EQ(
        with_own_remainders("#define PUT(n) fmod##n + n##fmod\n[Differentiable] float f(float fmod, float y) "
                            "{ return g(fmod, fmod(y, 2)); }"),
        "#define PUT(n) fmod##n + n##fmod\n[Differentiable] float f(float fmod, float y) "
        "{ return g(fmod, own(y, 2)); }")
        << "a variable, and parts of names";
}

TEST(Remainders, MacrosAreRenamed) {
    EXPECT_EQ(
        with_own_remainders("#define REST(a, \\\n b) (2 * fmod(a, \\\n  b)) // fmod\n#define NAMED fmod\n"
                            "float f(float x) { return fmod(x, 2); }"),
        "#define REST(a, \\\n b) (2 * own(a, \\\n  b)) // fmod\n#define NAMED own\n"
        "float f(float x) { return fmod(x, 2); }")
        << "what isn't differentiated stays";
    EXPECT_EQ(
        with_own_remainders("[Differentiable] float f(float x) { return OF(fmod, x) + SQUARE(fmod(x, 2)); }"),
        "[Differentiable] float f(float x) { return OF(own, x) + SQUARE(own(x, 2)); }");
    EXPECT_EQ(with_own_remainders("#include \"marks.h\"\nDIFF float f(float x) { return fmod(x, 2); }"),
              "#include \"marks.h\"\nDIFF float f(float x) { return own(x, 2); }");
}

TEST(Remainders, OthersOfThatNameStay) {
    for (const std::string text : {
             "float f(float x) { return fmod(x, 2); }",  // nothing is differentiated
             "[Differentiable] float f(S s) { return s.fmod(1, 2) + ns::fmod(1, 2) + fmod; }",
             "float fmod(float x, float y) { return x; } [Differentiable] float f(float x) { return fmod(x, "
             "2); }",
             "vector<T, 3> fmod(T x) { return x; } [Differentiable] float f(float x) { return fmod(x, 2).x; "
             "}",
             "#define fmod(x, y) (x)\n#define REST fmod(x, y)\n[Differentiable] float f(float x) { return "
             "REST; }",
             "#define REST(fmod) fmod(1)\n#define OF(s) s.fmod(2)\n[Differentiable] float f(float x) { "
             "return x; }",
         }) {
        EXPECT_EQ(with_own_remainders(text), text);
    }
}

}  // namespace
}  // namespace kf::gen
