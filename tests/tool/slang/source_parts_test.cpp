// Sources in parts: what each is called, what it uses, and what counts everywhere.
#include "slang/source_parts.h"

#include <gmock/gmock.h>

#include <map>

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<SourcePart> parts_of(const std::string& text) { return source_parts({{"m.slang", text}}); }

/// The names of the only part; "*" where it counts everywhere.
std::vector<std::string> names_of(const std::string& text) {
    const std::vector<SourcePart> parts = parts_of(text);
    EXPECT_EQ(parts.size(), 1U) << text;
    if (parts.empty()) return {};
    return parts.front().everywhere ? std::vector<std::string>{"*"} : parts.front().names;
}

TEST(SourceParts, DeclarationsAreKnownByTheirNames) {
    EXPECT_THAT(names_of("float f(float x) { return x; }"), ElementsAre("f"));
    EXPECT_THAT(
        names_of("[Differentiable] public vector<float, 3> f<let N : int>(float[N] x) where N : I {}"),
        ElementsAre("f"));
    EXPECT_THAT(names_of("func f(x : int) -> int { return x; }"), ElementsAre("f"));
    EXPECT_THAT(names_of("float f(float x);"), ElementsAre("f"));
    EXPECT_THAT(names_of("struct S : IFoo, IBar<float> { float x; }"), ElementsAre("S", "IFoo", "IBar"));
    EXPECT_THAT(names_of("enum E : uint { A, B = 2 }"), Contains("B"));
    EXPECT_THAT(names_of("typealias T = float;"), ElementsAre("T"));
    EXPECT_THAT(names_of("typedef float T;"), ElementsAre("T"));
    EXPECT_THAT(names_of("static const float[2] a = { 1, 2 };"), ElementsAre("a"));
    EXPECT_THAT(names_of("#define A(x) \\\n  x"), ElementsAre("A"));
    EXPECT_THAT(names_of("[BackwardDerivativeOf(f)] void g(inout float x) {}"), ElementsAre("g", "f"));
}

TEST(SourceParts, WhatActsWithoutANameCountsEverywhere) {
    for (const char* text :
         {"import lib;", "float global;", "uniform Texture2D t;", "extension float { }", "using namespace n;",
          "S operator+(S a, S b) { return a; }", "static const float a = 1, b = 2;", "cbuffer C { float x; }",
          "export static const int N = 4;", "extern struct T : I;", "[DllExport] int f() { return 1; }",
          "static float a", "#pragma once", "#include \"other.slang\""}) {
        EXPECT_THAT(names_of(text), ElementsAre("*")) << text;
    }
}

TEST(SourceParts, CommentsBlanksAndLinesAreNoPartOfATextButTokensAre) {
    const auto text_of = [](const std::string& text) { return parts_of(text).at(0).text; };
    const std::string plain = text_of("float f(float x) { return x - -x; }");
    EXPECT_EQ(text_of("// a\nfloat /* b */ f( float x )\n{\n#line 7\n    return x - -x; /* c */\n}"), plain);
    EXPECT_NE(text_of("float f(float x) { return x--x; }"), plain);
    EXPECT_NE(text_of("float f(float x) { return 1 .x; }"), text_of("float f(float x) { return 1.x; }"));
    EXPECT_NE(text_of("#define A (x)"), text_of("#define A(x)"));
}

TEST(SourceParts, ABranchAndANamespaceArePartOfADeclaration) {
    const auto of = [](const std::string& before, const std::string& behind) {
        return parts_of(before + "float f() { return 1; }" + behind);
    };
    EXPECT_NE(of("#if A\n", "\n#endif").at(0), of("", "").at(0));
    EXPECT_NE(of("#if A\n", "\n#endif").at(0), of("#if A\n#else\n", "\n#endif").at(0));
    EXPECT_THAT(of("#if A\n", "\n#endif").at(0).uses, Contains("A"));
    EXPECT_NE(of("namespace n {", "}").at(1), of("namespace m {", "}").at(1));
}

TEST(SourceParts, AnExtensionOfAKnownTypeBelongsToIt) {
    const auto parts = parts_of("struct S { } extension S : I { float f() { return 1; } }");
    EXPECT_THAT(parts.at(1).names, ElementsAre("S", "I"));
    EXPECT_FALSE(parts.at(1).everywhere);
    EXPECT_TRUE(parts_of("typealias S = float; extension S { }").at(1).everywhere);
}

TEST(SourceParts, AnExtensionOfABuiltInTypeIsNotThatOfAStructOfItsName) {
    const auto last_is_everywhere = [](const std::vector<SourceFile>& sources) {
        return source_parts(sources).back().everywhere;
    };
    const auto in_one = [&](const std::string& text) { return last_is_everywhere({{"m.slang", text}}); };
    EXPECT_TRUE(in_one("namespace n { struct float3 { } } extension float3 { }"));
    EXPECT_TRUE(in_one("namespace n { struct float3 { } } namespace o { extension float3 { } }"));
    EXPECT_FALSE(in_one("namespace n { struct float3 { } namespace o { extension float3 { } } }"));
    EXPECT_TRUE(in_one("#if A\nstruct float3 { };\n#endif\nextension float3 { }"));
    EXPECT_FALSE(in_one("#if A\nstruct float3 { }; extension float3 { }\n#endif\n"));

    const SourceFile type{"lib.slang", "struct float3 { }"};
    const SourceFile hidden{"lib.slang", "struct float3 { } public float f(float x) { return x; }"};
    const SourceFile shown{"lib.slang", "public struct float3 { } public float f(float x) { return x; }"};
    EXPECT_TRUE(last_is_everywhere({type, {"m.slang", "extension float3 { }"}}));
    EXPECT_FALSE(last_is_everywhere({type, {"m.slang", "import lib; extension float3 { }"}}));
    EXPECT_FALSE(last_is_everywhere({type, {"m.slang", "#include \"a/lib.slang\"\nextension float3 { }"}}));
    EXPECT_TRUE(last_is_everywhere({hidden, {"m.slang", "import lib; extension float3 { }"}}));
    EXPECT_FALSE(last_is_everywhere({shown, {"m.slang", "import lib; extension float3 { }"}}));
}

TEST(SourceParts, AnExtensionOfAMemberOrAParameterCountsEverywhere) {
    EXPECT_TRUE(parts_of("struct S { typealias T = float; } extension S::T { }").at(1).everywhere);
    EXPECT_TRUE(parts_of("struct T { } struct S { } extension S.T { }").at(2).everywhere);
    EXPECT_TRUE(parts_of("struct T { } __generic<T : I> extension T { }").at(1).everywhere);
}

TEST(SourceParts, WhatFollowsAConstraintIsNoPartOfItsFunction) {
    for (const char* text :
         {"T f<T>(T x) where T == float { return x; } float g() { return 1; } static int k;",
          "func f<let N : int = 3>(x : float) -> float { return x; } float g() { return 1; } static int "
          "k;"}) {
        EXPECT_TRUE(parts_of(text).at(0).everywhere) << text;
    }
}

TEST(SourceParts, AnAliasBehindATypesBracesUsesTheType) {
    EXPECT_THAT(parts_of("typedef struct X { float a; } T;").at(1).uses, Contains("X"));
    EXPECT_THAT(parts_of("struct X { float a; }; float t;").at(1).uses, Not(Contains("X")));
}

TEST(SourceParts, MacrosThatDeclareMakeWhatUsesThemCountEverywhere) {
    const auto last = [](const std::string& text) { return parts_of(text).back(); };
    EXPECT_FALSE(last("#define REAL float\nREAL f(REAL x) { return x; }").everywhere);
    EXPECT_TRUE(last("#define NAME g\nfloat NAME(float x) { return x; }").everywhere);
    EXPECT_TRUE(last("#define F(n) float n()\nF(g) { return 1; }").everywhere);
    EXPECT_TRUE(last("#define KIND struct\nKIND S { }").everywhere);
    EXPECT_TRUE(last("#define A KIND\n#define KIND struct\nA S { }").everywhere);
    EXPECT_TRUE(last("#define ITEMS A, B\nenum E { ITEMS }").everywhere);
    EXPECT_TRUE(last("#define G g\n[BackwardDerivativeOf(G)] void h(inout float x) {}").everywhere);
    EXPECT_TRUE(
        last("#define D(f) [BackwardDerivativeOf(f)]\nstruct S { D(g) static void h() {} }").everywhere);
}

TEST(SourceParts, WhatCannotBeFollowedIsOnePart) {
    for (const char* text :
         {"#define OPEN {\nfloat f() OPEN return 1; }\nfloat g() { return 2; }",
          "#define P(a, b) a##b\nfloat f() { return P(g, h)(); }\nfloat gh() { return 1; }",
          "#if A\nfloat f() {\n#else\nfloat g() {\n#endif\nreturn 1; }", "float f() { return 1; } }",
          "float f() { return (1; }"}) {
        EXPECT_THAT(names_of(text), ElementsAre("*")) << text;
    }
    EXPECT_NE(parts_of("float f() { return __LINE__; }"), parts_of("\nfloat f() { return __LINE__; }"));
    EXPECT_EQ(parts_of("float f() { return 1; }"), parts_of("\nfloat f() { return 1; }"));
}

TEST(SourceParts, WhatSlangTellsApartInAnotherWayIsLeftAsItIs) {
    for (const char* text :
         {"float gr\xC3\xB6\xC3\x9F"
          "e(float x) { return x; }",
          "#define \xC3\xA9 2", "float hel\\\nper() { return 1; }", "float f() { return 1; // one\r }\n}",
          "static const String s = R\"(a\" //)\";"}) {
        ASSERT_EQ(parts_of(text).size(), 1U) << text;
        EXPECT_TRUE(parts_of(text).front().everywhere) << text;
        EXPECT_EQ(parts_of(text).front().text, text);
    }
    EXPECT_THAT(names_of("float f() { return 1; } // \xC3\xA9 \\"), ElementsAre("f"));
    EXPECT_EQ(parts_of("#define GLOB \"x/*\"\nfloat f() { return 1; }\n/* c */").size(), 2U);
}

TEST(SourceParts, ImportsUseNoDeclarations) {
    EXPECT_THAT(parts_of("import render;").at(0).uses, Not(Contains("render")));
    EXPECT_THAT(parts_of("#define WHICH a\nimport WHICH;").at(1).uses, Contains("WHICH"));
}

}  // namespace
}  // namespace kf::gen
