// Tests which stores to parts of arrays are kept by themselves.
#include "slang/workarounds/stored_parts.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

std::string with_parts_kept(const std::string& text) {
    std::string result = text;
    const Insertions insertions = keep_part_gradients(tokenise(text));
    for (auto insertion = insertions.rbegin(); insertion != insertions.rend(); ++insertion)
        result.insert(insertion->first, insertion->second);
    return result;
}

struct StoredPartsCase {
    const char* statements;
    const char* expected;
};

const std::string parts_declarations =
    "struct S { float3 u; float w[2]; }; typedef float3 Two[2]; typealias Three = float3[3];\n"
    "void put(inout float b, float x = 1); float get(float x) { return x; }\n";

std::string parts_program(const std::string& statements) {
    return parts_declarations +
           "[Differentiable] float f(float x, S s, inout float3 a[2], int n, RWTensor<float3, 1> t) { " +
           statements + " return x; }";
}

class StoredParts : public testing::TestWithParam<StoredPartsCase> {};

TEST_P(StoredParts, AreKept) {
    EXPECT_EQ(with_parts_kept(parts_program(GetParam().statements)), parts_program(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Mixed, StoredParts,
    testing::Values(
        StoredPartsCase{"a[1].x = x; a[0] = 2;", "a[1] = a[1]; a[1].x = x; a[1] = a[1];  a[0] = 2;"},
        StoredPartsCase{"a[0] *= 2; a[n + 1].xy += x;",
                        "a[0] *= 2; a[n+1] = a[n+1]; a[n + 1].xy += x; a[n+1] = a[n+1]; "},
        StoredPartsCase{"if (n > 1) a[1].x = x; else a[0] = 2;",
                        "if (n > 1) { a[1] = a[1]; a[1].x = x; a[1] = a[1]; }  else a[0] = 2;"},
        StoredPartsCase{
            "for (int i = 0; i < 2; i++) { a[i] = 2; a[1 - i].x++; }",
            "for (int i = 0; i < 2; i++) { a[i] = 2; a[1-i] = a[1-i]; a[1 - i].x++; a[1-i] = a[1-i];  }"},
        StoredPartsCase{"float b[2][3]; b[0] = c; b[1][2] = x;",
                        "float b[2][3]; b[0] = c; b[1] = b[1]; b[1][2] = x; b[1] = b[1]; "},
        StoredPartsCase{
            "float2 b[2][2]; b[0][1] = x; b[1][0].x = x;",
            "float2 b[2][2]; b[0] = b[0]; b[0][1] = x; b[0] = b[0];  b[1] = b[1]; b[1][0].x = x; b[1] = "
            "b[1]; "},
        StoredPartsCase{"S m[2]; m[0] = s; m[1].u.x = x;",
                        "S m[2]; m[0] = s; m[1] = m[1]; m[1].u.x = x; m[1] = m[1]; "},
        StoredPartsCase{"Two b; b[0] = x; b[1].x = x;",
                        "Two b; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"Three b; b[0] = x; b[1].x = x;",
                        "Three b; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"Array<float3, 2> b; b[0] = x; b[1].x = x;",
                        "Array<float3, 2> b; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"float3[2] b; b[0] = x; b[1].x = x;",
                        "float3[2] b; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"var b : float3[2]; b[0] = x; b[1].x = x;",
                        "var b : float3[2]; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"var b = a; b[0] = x; b[1].x = x;",
                        "var b = a; b[0] = x; b[1] = b[1]; b[1].x = x; b[1] = b[1]; "},
        StoredPartsCase{"a[0] = 2; put(a[1].x);", "a[0] = 2; a[1] = a[1]; put(a[1].x); a[1] = a[1]; "},
        StoredPartsCase{
            "a[0] = 2; sincos(x, a[1].x, a[0].y);",
            "a[0] = 2; a[0] = a[0]; a[1] = a[1]; sincos(x, a[1].x, a[0].y); a[0] = a[0]; a[1] = a[1]; "},
        StoredPartsCase{"a[0] = 2; elsewhere(x, a[1].x);",
                        "a[0] = 2; a[1] = a[1]; elsewhere(x, a[1].x); a[1] = a[1]; "},
        StoredPartsCase{"a[0] = 2; return put(a[1].x);", "a[0] = 2; a[1] = a[1]; return put(a[1].x);"}));

INSTANTIATE_TEST_SUITE_P(
    Others, StoredParts,
    testing::Values(StoredPartsCase{"a[0].x = x; a[1].yz = x;", "a[0].x = x; a[1].yz = x;"},
                    StoredPartsCase{"a[0] = x; a[1] = x * a[0];", "a[0] = x; a[1] = x * a[0];"},
                    StoredPartsCase{"a[0] = x; x = a[1].x; x = get(a[1].y); max(a[0].x, x) == 1;",
                                    "a[0] = x; x = a[1].x; x = get(a[1].y); max(a[0].x, x) == 1;"},
                    StoredPartsCase{"a[0] = x; get(a[1].y);", "a[0] = x; get(a[1].y);"},
                    StoredPartsCase{"s.w[0] = x; s.u.x = x; s.u[1] = x;",
                                    "s.w[0] = x; s.u.x = x; s.u[1] = x;"},
                    StoredPartsCase{"t[0] = x; t[1].x = x;", "t[0] = x; t[1].x = x;"},
                    StoredPartsCase{"int3 k[2]; k[0] = n; k[1].x = n;", "int3 k[2]; k[0] = n; k[1].x = n;"},
                    StoredPartsCase{"a[0] = x; a[n++].x = x;", "a[0] = x; a[n++].x = x;"},
                    StoredPartsCase{"a[0] = x; a[n].x = x, ++n;", "a[0] = x; a[n].x = x, ++n;"},
                    StoredPartsCase{"a[0] = x; a[next()].x = x;", "a[0] = x; a[next()].x = x;"},
                    StoredPartsCase{"x = n > 1 ? t : a[1]; t[0] = x; t[1].x = x;",
                                    "x = n > 1 ? t : a[1]; t[0] = x; t[1].x = x;"},
                    StoredPartsCase{"float3 v; v[0] = x; v.y = x;", "float3 v; v[0] = x; v.y = x;"}));

TEST(StoredParts, OnlyDifferentiableFunctions) {
    const std::string text = "void f(inout float3 a[2]) { a[0] = 1; a[1].x = 2; }";
    EXPECT_EQ(with_parts_kept(text), text);
}

}  // namespace
}  // namespace kf::gen
