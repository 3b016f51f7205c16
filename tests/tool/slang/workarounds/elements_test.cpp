// Which reads of elements get a value of their own, and which don't.
#include "slang/workarounds/elements.h"

#include <gtest/gtest.h>

#include <regex>

namespace kf::gen {
namespace {

// The text with the insertions, without the function at its end, which is called `own`.
std::string with_elements_kept(const std::string& text) {
    const Tokens tokens = tokenise(text);
    std::string result = text;
    const auto insertions = keep_element_gradients(text, tokens);
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion) {
        if (insertion->first < text.size()) result.insert(insertion->first, insertion->second);
    }
    return std::regex_replace(result, std::regex("kf_added_own_[0-9]+"), "own");
}

std::string element_program(const std::string& statements, const std::string& parameters) {
    return "void put(float a, inout float b); [Differentiable] float f(" + parameters + ") { " + statements +
           " }";
}

struct ElementsCase {
    const char* parameters;
    const char* statements;
    const char* expected;
};

class ElementGradients : public testing::TestWithParam<ElementsCase> {};

TEST_P(ElementGradients, ReadAValueOfTheirOwn) {
    const ElementsCase& given = GetParam();
    EXPECT_EQ(with_elements_kept(element_program(given.statements, given.parameters)),
              element_program(given.expected, given.parameters));
}

INSTANTIATE_TEST_SUITE_P(
    Reads, ElementGradients,
    testing::Values(
        ElementsCase{"float3 p, int i, int j", "return p[i] + p[j];", "return own(p, 1)[i] + own(p, 2)[j];"},
        ElementsCase{"float p[4], int i", "return p[i + 1] * p[0];", "return own(p, 1)[i + 1] * p[0];"},
        ElementsCase{"float2x2 m, int i, int j", "return m[i][j] * m[j][i];",
                     "return own(own(m, 1)[i], 2)[j] * own(own(m, 3)[j], 4)[i];"},
        ElementsCase{"vector<float, 3> p, int i", "return p[i] <= p[2] ? p[i].x : 0;",
                     "return own(p, 1)[i] <= p[2] ? own(p, 2)[i].x : 0;"},
        ElementsCase{"float p[4], int i", "p[i] += p[0] * p[i + 1];",
                     "p[i] += own(p, 1)[0] * own(p, 2)[i + 1];"},
        ElementsCase{"float p[4], int i", "put(p[0], p[i]); return 0;", "put(own(p, 1)[0], p[i]); return 0;"},
        ElementsCase{"float3 p, int i", "var q = -(2 * p); let m = (p * 2); return m[i] * m[0];",
                     "var q = -(2 * p); let m = (p * 2); return own(m, 1)[i] * m[0];"},
        ElementsCase{"float3 p, int i", "float3 q = p; return q[i] + p[0];",
                     "float3 q = p; return own(q, 1)[i] + p[0];"},
        ElementsCase{"float x, int i", "var q = float2(x); return q[i] + q[0];",
                     "var q = float2(x); return own(q, 1)[i] + q[0];"},
        ElementsCase{"float p[4], int i, int j", "put(p[i], p[j]); return 0;",
                     "put(own(p, 1)[i], p[j]); return 0;"}));

INSTANTIATE_TEST_SUITE_P(OneIndex, ElementGradients,
                         testing::Values(ElementsCase{"float3 p, int i", "return p[i] * p[i];",
                                                      "return p[i] * p[i];"},
                                         ElementsCase{"float3 p, int i", "return p[0] * p[1] + p.x;",
                                                      "return p[0] * p[1] + p.x;"}));

INSTANTIATE_TEST_SUITE_P(
    OtherThings, ElementGradients,
    testing::Values(
        ElementsCase{"IDiffTensor<float, 1> t, int i", "return t[i] * t[0];", "return t[i] * t[0];"},
        ElementsCase{"float3 p, int i", "return SQUARE(p[i] + (p[0]));", "return SQUARE(p[i] + (p[0]));"},
        ElementsCase{"S s, int i", "let t = s.t; return t[i] * t[0];", "let t = s.t; return t[i] * t[0];"},
        ElementsCase{"int n[3], int i", "return n[i] * n[0];", "return n[i] * n[0];"},
        ElementsCase{"float3 p, int i", "p[i] = 1; p[0] = 2; return 0;", "p[i] = 1; p[0] = 2; return 0;"},
        ElementsCase{"float3 p, int i", "{ Box p; use(p[i] + p[0]); } return 0;",
                     "{ Box p; use(p[i] + p[0]); } return 0;"}));

TEST(ElementGradients, NamesMeanWhatTheFunctionDeclares) {
    const std::string other =
        "struct S { float w[2]; int p; } [Differentiable] float g(int p) { return p; } ";
    const std::string reads = "[Differentiable] float f(float3 p, S s, int i) { return ";
    EXPECT_EQ(with_elements_kept(other + reads + "p[i] + p[0] + s.w[i] * s.w[0]; }"),
              other + reads + "own(p, 1)[i] + p[0] + own(s.w, 2)[i] * s.w[0]; }");
}

// Two structs of a text may have fields of one name.
TEST(ElementGradients, FieldsAreThoseOfTheirStruct) {
    const std::string structs =
        "struct A { float w[2]; float n; } struct B { float w; float3 n; Inner inner[2]; } struct Inner { A "
        "a; } ";
    const std::string head = "[Differentiable] float f(A a, B b, int i) ";
    const auto expect = [&](const std::string& before, const std::string& after) {
        EXPECT_EQ(with_elements_kept(structs + head + before), structs + head + after);
    };
    expect("{ return a.w[i] * a.w[0]; }", "{ return own(a.w, 1)[i] * a.w[0]; }");
    expect("{ return b.n[i] * b.n[0]; }", "{ return own(b.n, 1)[i] * b.n[0]; }");
    expect("{ return b.inner[1].a.w[i] * b.inner[0].a.w[0]; }",
           "{ return own(b.inner[1].a.w, 1)[i] * b.inner[0].a.w[0]; }");
    expect("{ let c = a; var d = A(c); return c.w[i] * d.w[0]; }",
           "{ let c = a; var d = A(c); return own(c.w, 1)[i] * d.w[0]; }");
    expect("{ return a.n[i] * b.w[0]; }", "{ return a.n[i] * b.w[0]; }");
    expect("{ let c = make(); return c.w[i] * c.w[0]; }", "{ let c = make(); return c.w[i] * c.w[0]; }");
    const std::string method = "struct C { float w[3]; [Differentiable] float f(int i) ";
    EXPECT_EQ(with_elements_kept(structs + method + "{ return w[i] * this.w[0]; } }"),
              structs + method + "{ return own(w, 1)[i] * this.w[0]; } }");
}

TEST(ElementGradients, FunctionsThatArentDifferentiableStay) {
    const std::string text = "float f(float3 p, int i) { return p[i] + p[0]; }";
    EXPECT_TRUE(keep_element_gradients(text, tokenise(text)).empty());
}

}  // namespace
}  // namespace kf::gen
