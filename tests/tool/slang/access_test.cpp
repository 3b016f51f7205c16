// What of modules is closed to kernels, and what is opened for them.
#include "slang/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

FileAccess kept(std::set<std::string, std::less<>> elsewhere = {}) { return {true, std::move(elsewhere)}; }

const std::string springs =
    "module springs;\n"
    "namespace a::b {\n"
    "public struct Spring<T : IFloat> : IDifferentiable {\n"
    "    public T k;\n"
    "    T rest; // behind\n"
    "    [Tag(1)] no_diff internal int pulls, turns = 2;\n"
    "    private float3 ends[2] : POSITION; float mid;\n"
    "    static const int count = 3;\n"
    "    public float force(float x) { float y; return x; }\n"
    "    property float half_k { get { return k; } }\n"
    "#if SLOW\n"
    "    float slow;\n"
    "#endif\n"
    "}\n"
    "struct Own { float x; }\n"
    "}\n";

std::vector<std::string> names(const std::vector<ClosedField>& fields) {
    std::vector<std::string> all;
    for (const ClosedField& field : fields)
        all.push_back(field.type + "." + field.name + " " + std::to_string(field.line) + ":" +
                      std::to_string(field.column));
    return all;
}

TEST(Access, FindsTypesThatStayClosed) {
    const std::string text =
        "namespace ns { struct Free { int a; } struct Named<T> { T a; } public struct Open { int a; } }\n"
        "enum Mode { a } private struct Own { } interface INamed { }\n";
    const std::set<std::string, std::less<>> elsewhere{"Named", "Mode", "INamed"};
    EXPECT_THAT(open_declarations(text, kept(elsewhere)).closed_types,
                ElementsAre("ns.Named", "Mode", "Own", "INamed"));
    EXPECT_THAT(open_declarations(text, FileAccess()).closed_types, IsEmpty());
    GlobalParameter inner;
    inner.type.name = "ns.Named<int>";
    inner.location = {"m.slang", 1, 1};
    GlobalParameter outer = inner;
    outer.type.name = "Outer";
    outer.type.fields.push_back({"field", inner.type, false, false});
    GlobalParameter other = inner;
    other.location.file = "other.slang";
    std::vector<GlobalParameter> globals{inner, outer, other};
    mark_closed_types({{"m.slang", open_declarations(text, kept(elsewhere))}}, globals);
    EXPECT_EQ(globals[0].closed_type, "ns.Named");
    EXPECT_EQ(globals[1].closed_type, "ns.Named");
    EXPECT_EQ(globals[2].closed_type, "");
}

TEST(Access, FindsClosedFields) {
    EXPECT_THAT(names(open_declarations(springs, kept(), Opening::nothing).closed_fields),
                ElementsAre("a.b.Spring.rest 5:7", "a.b.Spring.pulls 6:35", "a.b.Spring.turns 6:42",
                            "a.b.Spring.ends 7:20", "a.b.Spring.mid 7:46", "a.b.Spring.slow 12:11"));
    EXPECT_THAT(open_declarations(springs, kept()).closed_fields, IsEmpty());
    EXPECT_THAT(open_declarations("struct Plain { float x; }", {}, Opening::nothing).closed_fields,
                IsEmpty());
}

TEST(Access, OpensWhereItStands) {
    EXPECT_EQ(open_declarations(springs, kept({"Own"})).text,
              "module springs;\n"
              "namespace a::b {\n"
              "public struct Spring<T : IFloat> : IDifferentiable {\n"
              "    public T k; public\n"
              "    T rest; // behind\n"
              "    [Tag(1)] no_diff public   int pulls, turns = 2;\n"
              "    public  float3 ends[2] : POSITION; \npublic\n#line 7\n"
              "                                       float mid; public\n"
              "    static const int count = 3;\n"
              "    public float force(float x) { float y; return x; }\n"
              "    property float half_k { get { return k; } }\n"
              "#if SLOW\n"
              "    \npublic\n#line 12\n    float slow;\n"
              "#endif\n#line 14\n"
              "}\n"
              "struct Own { float x; }\n"
              "}\n");
}

TEST(Access, OpensEachKindOfDeclaration) {
    const std::string head = "module m;\n";
    const auto open = [&](const std::string& declaration) {
        const std::string text = open_declarations(head + declaration + "\n", kept()).text;
        return text.substr(head.size() - 1);
    };
    for (const char* declaration :
         {"float f(float x) { return x; }", "func f(x : float) -> float { return x; }", "T f<T>(T x);",
          "__generic<T : I<int>> T f(T x) { return x; }", "float f(float x = 1) { return x; }",
          "[Differentiable] [ForceInline] float f(float x) { return x; }", "enum class E : int { a, b };",
          "interface I { float f(); }", "static const float table[2] = {1, 2};", "uniform float3 tint;",
          "typedef float3 Color;", "typealias Color = float3;", "extern static const int N = 4;",
          "StructuredBuffer<float> items;", "RWStructuredBuffer<Pair<int, float>> pairs[2];",
          "float f<let N : int = 2>(float x) { return N; }", "__generic<T : IFloat> struct Empty { }"})
        EXPECT_EQ(open(declaration), " public\n" + std::string(declaration) + "\n");
    for (const char* declaration :
         {"import other;", "__include part;", "using ns;", "static float state;", "groupshared float s[4];",
          "MACRO(x)", "MACRO(x) { }", "layout(binding = 1) buffer b;", "cbuffer C { float a; }",
          "public float f(float x) { return x; }", "private float f(float x) { return x; }",
          "static_assert(1, \"\");", "bool operator==(S a, S b) { return true; }",
          "public extension S { __init(float x) {} }", "private extension S { }"})
        EXPECT_EQ(open(declaration), "\n" + std::string(declaration) + "\n");
    EXPECT_EQ(open("struct S : I { private int a = 1; static int n; float g() { return 1; } __init() {} };"),
              " public\nstruct S : I { public  int a = 1; static int n; \npublic\n#line 2\n"
              "                                                float g() { return 1; } __init() {} };\n");
    EXPECT_EQ(open("extension S\n{ internal float g() { return 1; } }"),
              " public\nextension S\n{ public   float g() { return 1; } }\n");
    EXPECT_EQ(open("internal extension S { __init(float x) {} }"),
              "\npublic   extension S { __init(float x) {} }\n");
}

// "struct S { } f" would declare an f, and a directive would stand between.
TEST(Access, NothingComesBetween) {
    EXPECT_EQ(open_declarations("module m;\nstruct S { };\n#include \"h\"\nint f();\n", kept({"S"})).text,
              "module m;\nstruct S { };\n#include \"h\"\n\npublic\n#line 4\nint f();\n");
    EXPECT_EQ(open_declarations("module m;\nstruct S { }\nint f();\n", kept({"S"})).text,
              "module m;\nstruct S { }\n\npublic\n#line 3\nint f();\n");
}

TEST(Access, LinesAreThoseOfLineDirectives) {
    EXPECT_EQ(open_declarations("\n\n#line 40\npublic struct S { int a; };\n", {}).text,
              "\n\n#line 40\npublic struct S { \npublic\n#line 40\n                  int a; };\n");
}

// Slang's constructor of this one is S(a): it would become S(h, a), for which "{1}" would be an h.
TEST(Access, ConstructorsKeepTheirArguments) {
    const std::string text = "public struct S { float h; public float a; }\n";
    const OpenedText opened = open_declarations(text, kept());
    EXPECT_EQ(opened.text, text);
    EXPECT_THAT(names(opened.closed_fields), ElementsAre("S.h 1:25"));
    const OpenedText own = open_declarations("module m;\nstruct S { private float h; float b; };\n", kept());
    EXPECT_THAT(names(own.closed_fields), ElementsAre("S.h 2:26"));
    EXPECT_THAT(own.text, testing::HasSubstr("private float h; \npublic\n#line 2\n"));
}

// Where there is a constructor, Slang makes none.
TEST(Access, FieldsBesideConstructors) {
    const OpenedText opened = open_declarations(
        "public struct S { private float h; public float a; public __init(float r) { a = r; } }\n", {});
    EXPECT_THAT(opened.closed_fields, IsEmpty());
    EXPECT_EQ(opened.text,
              "public struct S { public  float h; public float a; public __init(float r) { a = r; } }\n");
}

TEST(Access, AttributesInBranches) {
    const std::string head = "module m;\n#ifdef GRAD\n[Differentiable]\n#endif\n";
    EXPECT_EQ(open_declarations(head + "float f(float x) { return x; }\n", kept()).text,
              head + "\npublic\n#line 5\nfloat f(float x) { return x; }\n");
}

TEST(Access, ByteOrderMarks) {
    EXPECT_EQ(open_declarations("\xEF\xBB\xBFmodule m;\nint f();\n", kept()).text,
              "module m; public\nint f();\n");
}

TEST(Access, WhatOtherModulesMentionStaysClosed) {
    const std::string text = "module m;\nfloat f(float x) { return x; }\nstruct S { private float a; };\n";
    const OpenedText opened = open_declarations(text, kept({"f", "S"}));
    EXPECT_EQ(opened.text, text);
    EXPECT_THAT(opened.closed_functions, ElementsAre(Pair(2, 7)));
    EXPECT_FALSE(opened.opens_more);
    EXPECT_TRUE(open_declarations(text, kept()).opens_more);  // a private field
    const std::string field = "module m;\npublic struct S { float a; };\n";
    EXPECT_FALSE(open_declarations(field, kept()).opens_more);
    EXPECT_TRUE(open_declarations(field, kept({"a"})).opens_more);
}

TEST(Access, MacrosBeforeDeclarations) {
    const auto opened = [](const std::string& text) {
        return open_declarations("module m;\n" + text, kept()).text.substr(10);
    };
    EXPECT_EQ(opened("EMPTY()\nfloat f(float x) { return x; }"),
              "EMPTY() public\nfloat f(float x) { return x; }");
    EXPECT_EQ(opened("SPACE(a, (b))\nenum E { a }"), "SPACE(a, (b)) public\nenum E { a }");
    EXPECT_EQ(opened("EMPTY()\nvector<float, 3> f() { return 1; }"),
              "EMPTY() public\nvector<float, 3> f() { return 1; }");
    // What a macro writes the type of stays closed.
    for (const std::string typed : {"TYPE(float)\nf() { return 1; }", "TYPE(float)\nf<T>() { return 1; }"})
        EXPECT_EQ(opened(typed), typed);
}

TEST(Access, WhatMayBePublicIsNotClosed) {
    const auto closed = [](const std::string& text) {
        return !open_declarations(text, kept({"f"})).closed_functions.empty();
    };
    EXPECT_TRUE(closed("module m;\nint f(int x) { return x; }"));
    EXPECT_TRUE(closed("module m;\npublic extension S { int f(int x) { return a; } }"));
    EXPECT_TRUE(closed("module m;\npublic struct S { int f(int x) { return x; } }"));
    EXPECT_FALSE(closed("module m;\npublic struct S : I { int f(int x) { return x; } }"));
    EXPECT_FALSE(closed("module m;\npublic interface I { int f(int x); }"));
    EXPECT_FALSE(closed("module m;\n[Differentiable] public\nint f(int x) { return x; }"));
    EXPECT_FALSE(closed("module m;\npublic [Differentiable] __generic<T>\nT f(T x) { return x; }"));
}

bool keeps(const std::string& text) {
    return file_accesses({{"/m.slang", text, {}, {}}}, {"/m.slang"}).at("/m.slang").keeps_to_itself;
}

TEST(Access, WhatMakesAModuleKeepThingsToItself) {
    for (const char* text :
         {"public float g(float x) { return x; }", "internal float g() { return 1; }",
          "struct S { private float a; };", "module some;", "// of all\nmodule some;", "implementing some;",
          "float f();\n__include part;", "#language slang 2026\nfloat f();",
          "#ifndef H\n#define H\npublic float g();\n#endif", "\xEF\xBB\xBFmodule m;",
          "#lang slang 2026\nfloat f();",
          "#ifdef __cplusplus\n#elif defined(GL_core_profile)\n#elif __SLANG__\npublic float g();\n#endif",
          "#ifndef __cplusplus\npublic float g();\n#endif",
          "#ifdef __cplusplus\n#else\npublic float g();\n#endif",
          "#if defined(__SLANG__)\npublic float g();\n#endif",
          "#ifndef H\n#define H\n#if 0\n#else\npublic float g();\n#endif\n#endif"}) {
        EXPECT_TRUE(keeps(text)) << text;
    }
    for (const char* text :
         {"float f(float x) { return x; }", "", "#if SOME\npublic float g();\n#endif",
          "#ifdef SOME\n#language slang 2026\n#endif", "// public\nfloat f();",
          "float f(float module) { return module; }", "#include \"public.slang\"",
          "float f(float internal) { return internal; }", "class A : public B, private C { public: int x; };",
          "module m;\n#define API public\nAPI float f(float x) { return x; }"}) {
        EXPECT_FALSE(keeps(text)) << text;
    }
}

TEST(Access, FilesOfAModuleKeepTogether) {
    const FileAccesses all = file_accesses({{"/a", "#include \"h\"\nfloat a;", {"/h"}, {}},
                                            {"/h", "float h;", {}, {}},
                                            {"/b", "#include \"h\"\npublic float b;", {"/h"}, {}},
                                            {"/c", "float c;", {}, {}}},
                                           {"/a", "/b", "/c"});
    EXPECT_TRUE(all.at("/b").keeps_to_itself);
    EXPECT_FALSE(all.at("/h").keeps_to_itself) << "/a, which includes it, is open";
    EXPECT_FALSE(all.at("/a").keeps_to_itself);
    EXPECT_FALSE(all.at("/c").keeps_to_itself);
}

TEST(Access, OtherModulesAreThoseThatMaySee) {
    const std::vector<ModuleFile> files = {{"/app", "import lib; float uses;", {}, {"/lib"}},
                                           {"/lib", "#include \"part\"\nfloat own;", {"/part"}, {"/deep"}},
                                           {"/part", "float part;", {}, {}},
                                           {"/deep", "module deep; float below;", {}, {}}};
    const FileAccesses all = file_accesses(files, {"/app"});
    EXPECT_THAT(all.at("/app").elsewhere, Not(Contains("own")));
    EXPECT_THAT(all.at("/app").elsewhere, Contains("fwd_diff")) << "kernels name it";
    EXPECT_THAT(all.at("/part").elsewhere, Contains("uses"));
    EXPECT_THAT(all.at("/part").elsewhere, Not(Contains("own"))) << "it is of the same module";
    EXPECT_THAT(all.at("/deep").elsewhere, testing::IsSupersetOf({"uses", "own", "part"}));
    const FileAccesses both = file_accesses(files, {"/app", "/deep"}, {{"MACRO", "f(own)"}});
    EXPECT_THAT(both.at("/app").elsewhere, Contains("own"));
    EXPECT_THAT(both.at("/app").elsewhere, Contains("below")) << "kernels import both";
}

TEST(Access, ClosedFunctionsAreMarked) {
    Module module;
    module.functions.resize(2);
    module.functions[0].location = {"/m.slang", 2, 7};
    module.functions[1].location = {"/m.slang", 3, 7};
    module.modules.resize(1);
    module.modules[0].functions = module.functions;
    std::map<std::string, OpenedText> opened;
    opened["/m.slang"].closed_functions = {{3, 7}};
    mark_closed(opened, module);
    EXPECT_FALSE(module.functions[0].is_closed);
    EXPECT_TRUE(module.functions[1].is_closed);
    EXPECT_TRUE(module.modules[0].functions[1].is_closed);
}

}  // namespace
}  // namespace kf::gen
