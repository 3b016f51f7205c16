// Which variables are copied behind calls, and which aren't.
#include "slang/workarounds/written_values.h"

#include <gtest/gtest.h>

#include <regex>

namespace kf::gen {
namespace {

// The text with the insertions, without the functions at its end, which are called `kept`.
std::string changed(const std::string& text) {
    const Tokens tokens = tokenise(text);
    std::string result = text;
    const auto insertions = keep_written_gradients(text, tokens);
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion) {
        if (insertion->first < text.size()) result.insert(insertion->first, insertion->second);
    }
    return std::regex_replace(result, std::regex("kf_kept_[0-9]+"), "kept");
}

struct Case {
    const char* statements;
    const char* expected;
};

const std::string declarations =
    "struct S { float a; float w[2]; property float both { get { return a; } set { a = newValue; } }\n"
    "[Differentiable] [mutating] void step(float x) { a = x; } float get(float x) { return a * x; } };\n"
    "void put(float a, inout float b, int n = 1); float sum(S s, float a[2]); void fill(out S s);\n";

std::string whole(const std::string& statements) {
    return declarations + "[Differentiable] float f(float x, S s, float a[2], const S fixed, int n, " +
           "IDiffTensor<float, 1> t) { for (;;) { " + statements + " } return x; }";
}

class WrittenValues : public testing::TestWithParam<Case> {};

TEST_P(WrittenValues, AreCopied) {
    EXPECT_EQ(changed(whole(GetParam().statements)), whole(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Calls, WrittenValues,
    testing::Values(
        Case{"put(x, s.a);", "put(x, s.a);s = kept(s, 1); "},
        Case{"put(x, a[n + 1], n); a[0] = 1;", "put(x, a[n + 1], n);a = kept(a, 1);  a[0] = 1;"},
        Case{"if (n > 1) s.step(x); else x += 1;", "if (n > 1) { s.step(x);s = kept(s, 1); }  else x += 1;"},
        Case{"if (n > 1) { fill(s); }", "if (n > 1) { fill(s);s = kept(s, 1);  }"},
        Case{"S many[2]; many[1].step(x);", "S many[2]; many[1].step(x);many = kept(many, 1); "},
        Case{"s.both = x;", "s.both = x;s = kept(s, 1); "},
        Case{"s.both += put(x, a[0]);", "s.both += put(x, a[0]);a = kept(a, 1); s = kept(s, 2); "},
        Case{"elsewhere(s, x, a[1]);", "elsewhere(s, x, a[1]);a = kept(a, 1); s = kept(s, 2); "},
        Case{"s.elsewhere(x + 1);", "s.elsewhere(x + 1);s = kept(s, 1); "},
        Case{"do put(x, s.a); while (n > 2);", "do { put(x, s.a);s = kept(s, 1); }  while (n > 2);"},
        Case{"switch (n) { case 1: put(x, s.a); break; }",
             "switch (n) { case 1: put(x, s.a);s = kept(s, 1);  break; }"},
        Case{"Box<float, 2> b; fill(b);", "Box<float, 2> b; fill(b);b = kept(b, 1); "},
        Case{"for (int k = 0; k < 2; k++) put(k, x);",
             "for (int k = 0; k < 2; k++) { put(k, x);x = kept(x, 1); } "}));

// Numbers as a whole are keep_scalar_gradients()'s; of others it is known that nothing is written.
INSTANTIATE_TEST_SUITE_P(OtherThings, WrittenValues,
                         testing::Values(Case{"put(x, x); float3 v; twist(v);",
                                              "put(x, x); float3 v; twist(v);"},
                                         Case{"x += sum(s, a) + s.get(x);", "x += sum(s, a) + s.get(x);"},
                                         Case{"sum(s, a); s.get(x);", "sum(s, a); s.get(x);"},
                                         Case{"elsewhere(fixed, n, t, 2 * x, s.get(1)); t.store(n, x);",
                                              "elsewhere(fixed, n, t, 2 * x, s.get(1)); t.store(n, x);"},
                                         Case{"let q = s; elsewhere(q);", "let q = s; elsewhere(q);"},
                                         Case{"RayQuery<0> q; q.Proceed();", "RayQuery<0> q; q.Proceed();"},
                                         Case{"x = elsewhere(s);", "x = elsewhere(s);"}));

TEST(WrittenValuesOf, FunctionsWithoutLoopsStay) {
    const std::string text =
        declarations + "[Differentiable] float f(S s, float x) { put(x, s.a); return s.a; }";
    EXPECT_EQ(changed(text), text);
    const std::string plain = declarations + "float f(S s, float x) { for (;;) put(x, s.a); return s.a; }";
    EXPECT_EQ(changed(plain), plain);
}

TEST(WrittenValuesOf, MethodsAreTheirObjects) {
    const auto with = [](const std::string& statements) {
        return "struct S { float a; S other; [mutating] void step(float x) { a = x; }\n"
               "[Differentiable] [mutating] float twice(float x) { while (x < 1) { " +
               statements + " } return x; } }";
    };
    EXPECT_EQ(changed(with("step(x); other.step(x); put(x, a);")),
              with("step(x);this = kept(this, 1);  other.step(x);this = kept(this, 2);  put(x, a);this = "
                   "kept(this, 3); "));
}

TEST(InoutParameters, EndAsACopy) {
    const std::string head =
        "struct S {} [Differentiable] float f(inout float a, inout float3 v, inout S s, float x) { s = S(); "
        "v.x = 1; a = "
        "0; ";
    EXPECT_EQ(changed(head + "if (x > 1) return 2; return a == 0; }"),
              head + "if (x > 1) { a = kept(a, 1); return 2;}  a = kept(a, 2); return a == 0; }");
    EXPECT_EQ(changed("[Differentiable] void f(inout a : float) { a = 1; }"),
              "[Differentiable] void f(inout a : float) { a = 1; a = kept(a, 1); }");
    EXPECT_EQ(changed("[Differentiable] void f(inout vector<float, 3> v) { { v = 1; } }"),
              "[Differentiable] void f(inout vector<float, 3> v) { { v = 1; } v = kept(v, 1); }");
}

}  // namespace
}  // namespace kf::gen
