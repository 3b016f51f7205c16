// Which variables are copied behind calls, and which aren't.
#include "slang/workarounds/value_copies.h"

#include <gtest/gtest.h>

#include <regex>

namespace kf::gen {
namespace {

// The text with the insertions, without the functions at its end, which are called `kept`.
std::string with_values_kept(const std::string& text) {
    ModuleText module{text};
    copy_values(module, CopiedValues::behind_calls);
    copy_values(module, CopiedValues::at_ends);
    std::string result = text;
    const Insertions insertions = module.numbered();
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion) {
        if (insertion->first < text.size()) result.insert(insertion->first, insertion->second);
    }
    return std::regex_replace(result, std::regex("kf_added_kept_[0-9]+"), "kept");
}

struct WrittenValuesCase {
    const char* statements;
    const char* expected;
};

const std::string written_declarations =
    "struct S { float a; float w[2]; property float both { get { return a; } set { a = newValue; } }\n"
    "[Differentiable] [mutating] void step(float x) { a = x; } float get(float x) { return a * x; } };\n"
    "void put(float a, inout float b, int n = 1); float sum(S s, float a[2]); void fill(out S s);\n";

std::string written_program(const std::string& statements) {
    return written_declarations +
           "[Differentiable] float f(float x, S s, float a[2], const S fixed, int n, " +
           "IDiffTensor<float, 1> t) { for (;;) { " + statements + " } return x; }";
}

class WrittenValues : public testing::TestWithParam<WrittenValuesCase> {};

TEST_P(WrittenValues, AreCopied) {
    EXPECT_EQ(with_values_kept(written_program(GetParam().statements)), written_program(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Calls, WrittenValues,
    testing::Values(
        WrittenValuesCase{"put(x, s.a);", "put(x, s.a);s = kept(s, 1); "},
        WrittenValuesCase{"put(x, a[n + 1], n); a[0] = 1;", "put(x, a[n + 1], n);a = kept(a, 1);  a[0] = 1;"},
        WrittenValuesCase{"if (n > 1) s.step(x); else x += 1;",
                          "if (n > 1) { s.step(x);s = kept(s, 1); }  else x += 1;"},
        WrittenValuesCase{"if (n > 1) { fill(s); }", "if (n > 1) { fill(s);s = kept(s, 1);  }"},
        WrittenValuesCase{"S many[2]; many[1].step(x);", "S many[2]; many[1].step(x);many = kept(many, 1); "},
        WrittenValuesCase{"s.both = x;", "s.both = x;s = kept(s, 1); "},
        WrittenValuesCase{"s.both += put(x, a[0]);",
                          "s.both += put(x, a[0]);a = kept(a, 1); s = kept(s, 2); "},
        WrittenValuesCase{"elsewhere(s, x, a[1]);", "elsewhere(s, x, a[1]);a = kept(a, 1); s = kept(s, 2); "},
        WrittenValuesCase{"s.elsewhere(x + 1);", "s.elsewhere(x + 1);s = kept(s, 1); "},
        WrittenValuesCase{"t.elsewhere(n, a[n]);", "t.elsewhere(n, a[n]);a = kept(a, 1); "},
        WrittenValuesCase{"do put(x, s.a); while (n > 2);",
                          "do { put(x, s.a);s = kept(s, 1); }  while (n > 2);"},
        WrittenValuesCase{"switch (n) { case 1: put(x, s.a); break; }",
                          "switch (n) { case 1: put(x, s.a);s = kept(s, 1);  break; }"},
        WrittenValuesCase{"Box<float, 2> b; fill(b);", "Box<float, 2> b; fill(b);b = kept(b, 1); "},
        WrittenValuesCase{"for (int k = 0; k < 2; k++) put(k, x);",
                          "for (int k = 0; k < 2; k++) { put(k, x);x = kept(x, 1); } "}));

// Numbers as a whole are rename_scalars()'s; of others it is known that nothing is written.
INSTANTIATE_TEST_SUITE_P(
    OtherThings, WrittenValues,
    testing::Values(WrittenValuesCase{"put(x, x); float3 v; twist(v);", "put(x, x); float3 v; twist(v);"},
                    WrittenValuesCase{"x += sum(s, a) + s.get(x);", "x += sum(s, a) + s.get(x);"},
                    WrittenValuesCase{"sum(s, a); s.get(x);", "sum(s, a); s.get(x);"},
                    WrittenValuesCase{"elsewhere(fixed, n, t, 2 * x, s.get(1)); t.store(n, x);",
                                      "elsewhere(fixed, n, t, 2 * x, s.get(1)); t.store(n, x);"},
                    WrittenValuesCase{"t.store(n, a[n]); t.store_once(n, s.a);",
                                      "t.store(n, a[n]); t.store_once(n, s.a);"},
                    WrittenValuesCase{"let q = s; elsewhere(q);", "let q = s; elsewhere(q);"},
                    WrittenValuesCase{"RayQuery<0> q; q.Proceed();", "RayQuery<0> q; q.Proceed();"},
                    WrittenValuesCase{"x = elsewhere(s);", "x = elsewhere(s);"}));

TEST(WrittenValuesOf, FunctionsWithoutLoopsStay) {
    const std::string text =
        written_declarations + "[Differentiable] float f(S s, float x) { put(x, s.a); return s.a; }";
    EXPECT_EQ(with_values_kept(text), text);
    const std::string plain =
        written_declarations + "float f(S s, float x) { for (;;) put(x, s.a); return s.a; }";
    EXPECT_EQ(with_values_kept(plain), plain);
}

TEST(WrittenValuesOf, MethodsAreTheirObjects) {
    const auto with = [](const std::string& statements) {
        return "struct S { float a; S other; [mutating] void step(float x) { a = x; }\n"
               "[Differentiable] [mutating] float twice(float x) { while (x < 1) { " +
               statements + " } return x; } }";
    };
    EXPECT_EQ(with_values_kept(with("step(x); other.step(x); put(x, a);")),
              with("step(x);this = kept(this, 1);  other.step(x);this = kept(this, 2);  put(x, a);this = "
                   "kept(this, 3); "));
}

TEST(InoutParameters, EndAsACopy) {
    const std::string head =
        "struct S {} [Differentiable] float f(inout float a, inout float3 v, inout S s, float x) { s = S(); "
        "v.x = 1; a = "
        "0; ";
    EXPECT_EQ(with_values_kept(head + "if (x > 1) return 2; return a == 0; }"),
              head + "if (x > 1) { a = kept(a, 1); return 2;}  a = kept(a, 2); return a == 0; }");
    EXPECT_EQ(with_values_kept("[Differentiable] void f(inout a : float) { a = 1; }"),
              "[Differentiable] void f(inout a : float) { a = 1; a = kept(a, 1); }");
    EXPECT_EQ(with_values_kept("[Differentiable] void f(inout vector<float, 3> v) { { v = 1; } }"),
              "[Differentiable] void f(inout vector<float, 3> v) { { v = 1; } v = kept(v, 1); }");
}

}  // namespace
}  // namespace kf::gen
