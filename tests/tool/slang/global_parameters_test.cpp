// Global parameters in the text of modules.
#include "slang/global_parameters.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

/// The text with all its globals as variables, or properties, without what stands in ids for the text.
std::string settable(const std::string& text, bool are_properties = false) {
    std::vector<GlobalForm> forms;
    std::string suffix;
    for (const GlobalPlace& place : global_places(text)) {
        forms.push_back({place.id, are_properties});
        suffix = place.id.substr(place.id.rfind('_'));
    }
    std::string changed = with_settable_globals(text, forms);
    for (std::size_t at = changed.find(suffix); !suffix.empty() && at != changed.npos;
         at = changed.find(suffix))
        changed.erase(at, suffix.size());
    return changed;
}

TEST(GlobalParameters, BecomeStaticWithAFunctionThatSetsThem) {
    EXPECT_EQ(settable("uniform float4 tint;"),
              "        static float4 tint; export void kf_set_tint_1(float4 kf_value) { tint = kf_value; }");
    EXPECT_EQ(settable("float3 sun;"),
              "static float3 sun; export void kf_set_sun_1(float3 kf_value) { sun = kf_value; }");
    EXPECT_EQ(settable("public uniform float w[4];"),
              "               public static float w[4]; export void kf_set_w_1(float kf_value[ 4 ]) { w = "
              "kf_value; }");
    EXPECT_EQ(
        settable("ParameterBlock<Box<float, 3>> box;"),
        "               static Box<float, 3>  box; export void kf_set_box_1(Box < float , 3 > kf_value) "
        "{ box = kf_value; }");
    EXPECT_EQ(
        settable("namespace look { float gain : register(b0); }"),
        "namespace look { static float gain               ; export void kf_set_gain_1(float kf_value) { "
        "gain = kf_value; } }");
    EXPECT_EQ(settable("ConstantBuffer<Box<float, 3>, ScalarDataLayout> box;"),
              "               static Box<float, 3>                    box; export void kf_set_box_1(Box < "
              "float , 3 "
              "> kf_value) { box = kf_value; }");
    EXPECT_EQ(settable("ns::Box box;"),
              "static ns::Box box; export void kf_set_box_1(ns :: Box kf_value) { box = kf_value; }");
    EXPECT_EQ(settable("float* p;"),
              "static float* p; export void kf_set_p_1(float * kf_value) { p = kf_value; }");
}

TEST(GlobalParameters, MembersOfCbuffersAreGlobalsOfTheirOwn) {
    EXPECT_EQ(settable("cbuffer Look : register(b1)\n{\n float a : packoffset(c0), b;\n};\nfloat f;"),
              "                           \n \n static float a                 , b; export void "
              "kf_set_a_1(float kf_value) { a = kf_value; } export void kf_set_b_2(float kf_value) { b = "
              "kf_value; }\n ;\nstatic float f; export void kf_set_f_3(float kf_value) { f = kf_value; }");
    EXPECT_EQ(settable("[[vk::binding(0)]] public cbuffer L { float a; }"),
              "                                      public static float a; export void kf_set_a_1(float "
              "kf_value) { a "
              "= kf_value; }  ");
    // One that can't be set stays, and takes no other's place.
    const std::string text = "cbuffer Look { float a : packoffset(c0); float b; }";
    EXPECT_EQ(with_settable_globals(text, {{global_places(text)[1].id}}).substr(0, 49),
              "               float a                 ; static f");
}

TEST(GlobalParameters, BecomeWhatAFunctionMakes) {
    EXPECT_EQ(
        settable("[[vk::binding(1)]] StructuredBuffer<float> t : register(t0);\nfloat f() { return t[0]; }",
                 true),
        "                                                           ; extern StructuredBuffer < float > "
        "kf_get_t_1(); property StructuredBuffer < float > t { get { return kf_get_t_1(); } }\nfloat f() { "
        "return t[0]; }");
    EXPECT_EQ(
        settable("public ParameterBlock<Tree> tree;", true),
        "                                ; extern Tree kf_get_tree_1(); public property Tree tree { get { "
        "return kf_get_tree_1(); } }");
    EXPECT_EQ(
        settable("StructuredBuffer<float> t[N][2 > 1 ? 2 : 3];", true),
        "                                           ; extern Array<Array<StructuredBuffer < float >, (2 > 1 "
        "? 2 : 3)>, (N)> kf_get_t_1(); property Array<Array<StructuredBuffer < float >, (2 > 1 ? 2 : "
        "3)>, (N)> t { get { return kf_get_t_1(); } }");
}

// A declaration's names that no call reaches have no form.
TEST(GlobalParameters, NamesDeclaredBesideOneThatIsMadeStay) {
    const std::string text =
        "public StructuredBuffer<float> a : register(t0), b : register(t1), c;\nfloat f() { return b[0]; }";
    const std::string id = global_places(text)[0].id;
    const std::string changed = with_settable_globals(text, {{id, true}});
    EXPECT_EQ(changed.substr(text.find(";") + 1),
              " extern StructuredBuffer < float > kf_get_" + id +
                  "(); public property StructuredBuffer < float > a { get { return kf_get_" + id +
                  "(); } } public uniform StructuredBuffer < float > b; public uniform "
                  "StructuredBuffer < float > c;\nfloat f() { return b[0]; }");
    const std::string member = "cbuffer L { Wood a : packoffset(c0), b : packoffset(c1); }";
    EXPECT_THAT(with_settable_globals(member, {{global_places(member)[0].id, true}}),
                testing::HasSubstr("} } uniform Wood b; "));
    // A variable's are static like it.
    const std::string values = "float a, b;";
    EXPECT_THAT(with_settable_globals(values, {{global_places(values)[1].id}}),
                testing::StartsWith("static float a, b; export void kf_set_b_2"));
}

TEST(GlobalParameters, OthersStay) {
    for (const char* text :
         {"uniform float4 tint = 1;", "static float4 tint;", "struct S { uniform float x; };",
          "void f(uniform float x) { uniform float y; }", "groupshared float tile[4];",
          "static const float x = 3;", "extern static const int N;", "const float x = 3;",
          "typedef float real;", "import scenery;", "float f(float x);", "let x = 3;",
          "cbuffer Look { float4 tint = 1; }"}) {
        EXPECT_TRUE(global_places(text).empty()) << text;
    }
    EXPECT_EQ(with_settable_globals("float a; Texture2D b;", {}), "float a; Texture2D b;");
}

TEST(GlobalParameters, AreNamedByTheirPlace) {
    const std::vector<GlobalPlace> places =
        global_places("float f() { return 1; }\n  uniform float tint;\nParameterBlock<S> s; int tint;");
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(std::pair(places[0].line, places[0].column), std::pair(std::int64_t{2}, std::int64_t{17}));
    EXPECT_EQ(std::pair(places[1].line, places[1].column), std::pair(std::int64_t{3}, std::int64_t{19}));
    EXPECT_EQ(std::pair(places[2].line, places[2].column), std::pair(std::int64_t{3}, std::int64_t{26}));
    EXPECT_NE(places[0].id, places[2].id);
}

}  // namespace
}  // namespace kf::gen
