// Global parameters in the text of modules.
#include "slang/global_parameters.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

TEST(GlobalParameters, BecomeStaticWhereTheyStand) {
    EXPECT_EQ(globals_as_statics("uniform float4 tint;"), "static  float4 tint;");
    EXPECT_EQ(globals_as_statics("public uniform float weights[4];"), "public static  float weights[4];");
    EXPECT_EQ(globals_as_statics("ParameterBlock<Scene> scene;"), "static         Scene  scene;");
    EXPECT_EQ(globals_as_statics("uniform ConstantBuffer<Box<float, 3>> box;"),
              "static                 Box<float, 3>  box;");
    EXPECT_EQ(globals_as_statics("namespace look { uniform RWTensor<float, 2> out; }"),
              "namespace look { static  RWTensor<float, 2> out; }");
}

TEST(GlobalParameters, OthersStay) {
    for (const char* text :
         {"uniform float4 tint = 1;", "uniform float4 tint : register(b0);", "cbuffer Look { float4 tint; }",
          "static float4 tint;", "float4 tint;", "struct S { uniform float x; };",
          "void f(uniform float x) { uniform float y; }", "ConstantBuffer<Scene, ScalarDataLayout> scene;",
          "RWStructuredBuffer<float> out;", "uniform float a, b;"}) {
        EXPECT_EQ(globals_as_statics(text), text);
        EXPECT_TRUE(global_places(text).empty()) << text;
    }
}

TEST(GlobalParameters, AreNamedByTheirPlace) {
    EXPECT_EQ(
        global_places("float f() { return 1; }\n  uniform float tint;\nParameterBlock<S> s; uniform int n;"),
        (std::vector<GlobalPlace>{{2, 17}, {3, 19}, {3, 34}}));
}

}  // namespace
}  // namespace kf::gen
