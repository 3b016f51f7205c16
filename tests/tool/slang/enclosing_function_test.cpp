// Names of the functions that places are in.
#include "slang/enclosing_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kf::gen {
namespace {

struct EnclosingCase {
    const char* text;  ///< the place is that of the word `here`
    const char* name;
    bool differentiated;
};
void PrintTo(const EnclosingCase& one, std::ostream* out) { *out << one.text; }

class Enclosing : public testing::TestWithParam<EnclosingCase> {};

TEST_P(Enclosing, Function) {
    const Tokens tokens = tokenise(GetParam().text);
    const auto here = std::find_if(tokens.all.begin(), tokens.all.end(),
                                   [](const Token& token) { return token.text == "here"; });
    const EnclosingFunction found =
        enclosing_function(tokens, static_cast<std::size_t>(here - tokens.all.begin()));
    EXPECT_EQ(found.name, GetParam().name);
    EXPECT_EQ(found.differentiated, GetParam().differentiated);
}

INSTANTIATE_TEST_SUITE_P(
    All, Enclosing,
    testing::Values(
        EnclosingCase{"[Differentiable] float f(float x) { here; }", "f", true},
        EnclosingCase{"[Differentiable] float g(float x) { return x; } float f(float x) { here; }", "f",
                      false},
        EnclosingCase{
            "[Differentiable] float3 f(float x[3], int n = h(2)) { if (n) { x[0] = 1; } else { for (;;) "
            "here; } }",
            "f", true},
        EnclosingCase{
            "[BackwardDifferentiable] T f<T : IFloat, let N : int>(T x) where T : IRay { { do { here; } "
            "while (a); } }",
            "f", true},
        EnclosingCase{
            "struct S { float a; [Differentiable] __init(float x) { switch (x) { case 1: { here; } } } }",
            "__init", true},
        EnclosingCase{"struct S { float half { get { here; } } }", "", true},
        EnclosingCase{"#define DIFF [Differentiable]\nDIFF float f(float x) { here; }", "f", true},
        EnclosingCase{"[Differentiable] float f(float x) { LOOP(i, 3) { here; } }", "f", true},
        EnclosingCase{"[Differentiable] float f(float x) : TEXCOORD { here; }", "f", true},
        EnclosingCase{"[Differentiable] func f(x : float) -> float { here; }", "f", true},
        EnclosingCase{"[BackwardDerivative(f_bwd)] [Differentiable] float f(float x) { here; }", "f", false},
        EnclosingCase{"here;", "", true}));

}  // namespace
}  // namespace kf::gen
