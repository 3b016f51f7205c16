// Tests the reading, matching and filling in of type names.
#include "plan/type_text.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

TypeText type(const std::string& text) { return parse_type(text).value(); }

TEST(TypeTextTest, OneTypeHasOneSpelling) {
    const std::vector<std::array<std::string, 3>> rows{
        {"float", "float", "float"},
        {"uint32_t", "uint", "uint"},
        {"vector<float,3>", "float3", "float3"},
        {"float3", "float3", "float3"},
        {"vector<float,1>", "float1", "float1"},
        {"matrix<half,2,4>", "half2x4", "half2x4"},
        {"int[2][3]", "int[2][3]", "Array<Array<int, 3>, 2>"},
        {"Array< Array<int,3> , 2 >", "int[2][3]", "Array<Array<int, 3>, 2>"},
        {"ns::Box<vector<float,3>,2>[4]", "ns.Box<float3, 2>[4]", "Array<ns.Box<float3, 2>, 4>"},
        {"Acc<float>.Inner<3>", "Acc<float>.Inner<3>", "Acc<float>.Inner<3>"},
        {"vector<T, N>", "vector<T, N>", "vector<T, N>"},
        {"T[N + 1]", "T[N+1]", "Array<T, N+1>"},
        {"U[int(M)]", "U[M]", "Array<U, M>"},
        {"Flag<true, -1>", "Flag<true, -1>", "Flag<true, -1>"},
    };
    for (const auto& [text, kind, slang] : rows) {
        SCOPED_TRACE(text);
        ASSERT_TRUE(parse_type(text));
        EXPECT_EQ(spelled(type(text)), kind);
        EXPECT_EQ(slang_text(type(text)), slang);
        EXPECT_EQ(type(slang), type(text));
    }
}

TEST(TypeTextTest, WhatIsNoTypeIsRefused) {
    for (const char* text :
         {"", " ", "<", "float<", "Box<float", "Box<>", "Box<float>>", "float[", "float[]", "a..b", "a.",
          "1x", "a b", "Box<a b>", "Box<;>", "float[3]x", "T[+]", "Box<\"a\">"}) {
        EXPECT_FALSE(parse_type(text)) << text;
    }
}

TEST(TypeTextTest, UnifyFindsWhatParametersStandFor) {
    const std::vector<std::string> names{"T", "N", "M"};
    const auto unified = [&](const std::string& pattern, const std::string& given) {
        Bindings bindings;
        if (!unify(type(pattern), type(given), names, bindings)) return std::string("none");
        std::string text;
        for (const auto& [name, bound] : bindings) text += name + "=" + spelled(bound) + ";";
        return text;
    };
    EXPECT_EQ(unified("T", "float3"), "T=float3;");
    EXPECT_EQ(unified("vector<T,N>", "half4"), "N=4;T=half;");
    EXPECT_EQ(unified("matrix<T,N,M>", "float2x3"), "M=3;N=2;T=float;");
    EXPECT_EQ(unified("T[N][M]", "int[2][3]"), "M=3;N=2;T=int;");
    EXPECT_EQ(unified("T[N]", "int[2][3]"), "N=2;T=int[3];");
    EXPECT_EQ(unified("ns.Box<T, N>", "ns::Box<Ray, 7>"), "N=7;T=Ray;");
    EXPECT_EQ(unified("matrix<T,N,N>", "float2x3"), "none");
    EXPECT_EQ(unified("matrix<T,N,N>", "float3x3"), "N=3;T=float;");
    EXPECT_EQ(unified("vector<T,3>", "float2"), "none");
    EXPECT_EQ(unified("Box<T>", "Bag<float>"), "none");
    EXPECT_EQ(unified("float", "float"), "");
    EXPECT_EQ(unified("float", "half"), "none");
    EXPECT_EQ(unified("T.Differential", "float"), "");
    EXPECT_EQ(unified("float[N+1]", "float[4]"), "");
    EXPECT_EQ(unified("ns.T", "float"), "none");
}

TEST(TypeTextTest, FillingInReplacesWholeNamesOnly) {
    const Bindings bindings{{"T", type("float")}, {"N", TypeText{"3", {}}}, {"S", type("Box<int, 2>")}};
    const auto filled = [&](const std::string& pattern) {
        return slang_text(substituted(type(pattern), bindings));
    };
    EXPECT_EQ(filled("vector<T,N>"), "float3");
    EXPECT_EQ(filled("T[N+1]"), "Array<float, 3+1>");
    EXPECT_EQ(filled("T.Differential"), "float.Differential");
    EXPECT_EQ(filled("S.Differential"), "Box<int, 2>.Differential");
    EXPECT_EQ(filled("Type"), "Type");
    EXPECT_EQ(filled("ns.T"), "ns.T");
    EXPECT_EQ(filled("Box<S, N>"), "Box<Box<int, 2>, 3>");
}

TEST(TypeTextTest, PeelingTakesTheOuterDimensionOff) {
    EXPECT_EQ(spelled(*peeled(type("float2x3"))), "float3");
    EXPECT_EQ(spelled(*peeled(type("int[2][3]"))), "int[3]");
    EXPECT_EQ(spelled(*peeled(type("float3"))), "float");
    EXPECT_FALSE(peeled(type("float")));
    EXPECT_FALSE(peeled(type("Box<float, 3>")));
    EXPECT_EQ(depth(type("float2x3[4]")), 3);
}

}  // namespace
}  // namespace kf::gen
