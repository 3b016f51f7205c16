// What of a module's text is closed to kernels.
#include "slang/field_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(FieldAccess, FindsClosedFields) {
    EXPECT_THAT(names(closed_fields(springs, false)),
                ElementsAre("a.b.Spring.rest 5:7", "a.b.Spring.pulls 6:35", "a.b.Spring.turns 6:42",
                            "a.b.Spring.ends 7:20", "a.b.Spring.mid 7:46", "a.b.Spring.slow 12:11"));
    EXPECT_THAT(closed_fields(springs, true), IsEmpty());
    EXPECT_THAT(closed_fields("struct Plain { float x; }", false), IsEmpty());
}

TEST(FieldAccess, OpensThemWhereTheyStand) {
    EXPECT_EQ(with_open_fields(springs),
              "module springs;\n"
              "namespace a::b {\n"
              "public struct Spring<T : IFloat> : IDifferentiable {\n"
              "    public T k; public\n"
              "    T rest; // behind\n"
              "    [Tag(1)] no_diff public   int pulls, turns = 2;\n"
              "    public  float3 ends[2] : POSITION; \npublic\n#line 7\n"
              "                                       float mid;\n"
              "    static const int count = 3;\n"
              "    public float force(float x) { float y; return x; }\n"
              "    property float half_k { get { return k; } }\n"
              "#if SLOW\n"
              "    public float slow;\n"
              "#endif\n"
              "}\n"
              "struct Own { float x; }\n"
              "}\n");
}

TEST(FieldAccess, LinesAreThoseOfLineDirectives) {
    EXPECT_EQ(with_open_fields("\n\n#line 40\npublic struct S { int a; };\n"),
              "\n\n#line 40\npublic struct S { \npublic\n#line 40\n                  int a; };\n");
}

// Slang's constructor of this one is S(a, b = 3): it would become S(h, a, b = 3).
TEST(FieldAccess, ConstructorsKeepTheirArguments) {
    const std::string text = "public struct S { float h; public float a; public float b = 3; }\n";
    EXPECT_EQ(with_open_fields(text), text);
    EXPECT_THAT(names(closed_fields(text, true)), ElementsAre("S.h 1:25"));
}

TEST(FieldAccess, ModulesWithNothingPublic) {
    EXPECT_EQ(closed_module_line("// public\n\nmodule m;\nfloat f() { return 1; }\n"), 3);
    EXPECT_EQ(closed_module_line("implementing m;\nfloat f() { return 1; }\n"), 1);
    for (const char* text : {"module m;\npublic float f() { return 1; }\n", "float f() { return 1; }\n",
                             "module m;\n#include \"exports.h\"\nEXPORT float f() { return 1; }\n",
                             "module m;\n#define EXPORT public\nEXPORT float f() { return 1; }\n"})
        EXPECT_EQ(closed_module_line(text), 0) << text;
}

}  // namespace
}  // namespace kf::gen
