// Which calls that are marked no_diff are detached.
#include "slang/workarounds/no_diff_calls.h"

#include <gtest/gtest.h>

#include <regex>

namespace kf::gen {
namespace {

/// The text with its calls detached, without the functions at its end and the macro before it.
std::string with_detached(const std::string& text) {
    ModuleText module{text};
    no_diff_calls.change_text(module);
    std::string result = module.text;
    const Insertions insertions = module.numbered();
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion) {
        if (insertion->first > 0 && insertion->first < text.size())
            result.insert(insertion->first, insertion->second);
    }
    return std::regex_replace(result, std::regex("kf_added_detached_[0-9]+"), "own");
}

TEST(NoDiffCalls, AreDetached) {
    EXPECT_EQ(
        with_detached(
            "float f(float x) { return no_diff(g(x)).y + no_diff s.m(x)[1] * no_diff ns::g<float, 2>(x); }"),
        "float f(float x) { return own(no_diff(g(x)).y) + own(no_diff s.m(x)[1]) * own(no_diff "
        "ns::g<float, 2>(x)); }");
    EXPECT_EQ(
        with_detached(
            "void f() { g(no_diff(h(no_diff(k(x)))), no_diff p[i]); x = c ? no_diff(a()) : no_diff(b()); }"),
        "void f() { g(own(no_diff(h(own(no_diff(k(x)))))), own(no_diff p[i])); x = c ? own(no_diff(a())) : "
        "own(no_diff(b())); }");
}

TEST(NoDiffCalls, InMacrosAreByOne) {
    EXPECT_EQ(
        with_detached("#define HELD(x) (2 * \\\n no_diff(g(x)))\n#define sq(x) ((x) * (x))\n"
                      "float f(float x) { return SUM(no_diff(g(x)), no_diff g(x)) + sq(no_diff(g(x))); }"),
        "#define HELD(x) (2 * \\\n kf_held(g(x)))\n#define sq(x) ((x) * (x))\n"
        "float f(float x) { return SUM(kf_held(g(x)), no_diff g(x)) + sq(kf_held(g(x))); }");
}

/// Such files may have macros, which are called as functions are.
TEST(NoDiffCalls, InTextsThatIncludeFilesAreByOne) {
    EXPECT_EQ(
        with_detached("#include \"a.h\"\nfloat f(float x) { return twice(no_diff(g(x)).y, no_diff g(x)) + "
                      "no_diff(g(x)) + twice(no_diff (a.g)(x)); }"),
        "#include \"a.h\"\nfloat f(float x) { return twice(kf_held(g(x)).y, own(no_diff g(x))) + "
        "own(no_diff(g(x))) + twice(own(no_diff (a.g)(x))); }");
}

TEST(NoDiffCalls, OthersStay) {
    for (const std::string text : {
             "struct S { no_diff float x; no_diff float y[3]; no_diff vector<float, 3> z; no_diff A::B w; }",
             "[Differentiable] no_diff float f(no_diff float x, no_diff float2 y[2], no_diff Tensor<float, "
             "1> t) {}",
             "void f() { no_diff(g(x)); if (a) no_diff g(x); else no_diff(g(x)); for (;; no_diff(g(x))) { "
             "no_diff g(x); } }",
             "void f() { switch (x) { case 1: no_diff(g(x)); } }",
             "void f() { a = no_diff; no_diff(s.at(1)) = 2; }",
             "#define DO(x) no_diff(g(x));",
         }) {
        EXPECT_EQ(with_detached(text), text);
    }
}

}  // namespace
}  // namespace kf::gen
