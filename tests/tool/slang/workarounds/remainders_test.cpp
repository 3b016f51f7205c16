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
    std::string result = module.text;
    const Insertions insertions = module.numbered();
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion) {
        if (insertion->first < text.size()) result.replace(insertion->first, 4, insertion->second);
    }
    return std::regex_replace(result, std::regex("kf_remainder_[0-9]+"), "own");
}

TEST(Remainders, CallsAreRenamed) {
    EXPECT_EQ(with_own_remainders(
                  "[Differentiable] float f(float x, float y) { if (x > fmod(x, y)) return fmod(y, x); "
                  "float2 v = 2 * fmod<float, 2>(x, fmod(y, 2)); return v.x; }"),
              "[Differentiable] float f(float x, float y) { if (x > own(x, y)) return own(y, x); "
              "float2 v = 2 * own<float, 2>(x, own(y, 2)); return v.x; }");
}

TEST(Remainders, OthersOfThatNameStay) {
    for (const std::string text : {
             "float f(float x) { return fmod(x, 2); }",  // nothing is differentiated
             "[Differentiable] float f(S s) { return s.fmod(1, 2) + ns::fmod(1, 2) + fmod; }",
             "float fmod(float x, float y) { return x; } [Differentiable] float f(float x) { return fmod(x, "
             "2); }",
             "vector<T, 3> fmod(T x) { return x; } [Differentiable] float f(float x) { return fmod(x, 2).x; "
             "}",
             "#define REST fmod(x, y)\n[Differentiable] float f(float x, float y) { return REST; }",
         }) {
        EXPECT_EQ(with_own_remainders(text), text);
    }
}

}  // namespace
}  // namespace kf::gen
