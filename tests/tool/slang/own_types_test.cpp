// Tests which texts get imports of the modules that have kf's own types.
#include "slang/own_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using ::testing::ElementsAre;

TEST(OwnTypes, AreImportedBehindAllElse) {
    for (const std::string text :
         {"void f(TensorView<float> a) {}", "module m;\nvoid f(DiffTensorView a) {} // last",
          "TorchTensor<float> f();\n", "#define VIEW TensorView<float>\nvoid f(VIEW a) {}\n",
          "namespace n { void f(TensorView<float> a) {} }"})
        EXPECT_EQ(with_own_types(text), text + "\nimport kf_views;\n");
    for (const std::string text :
         {"void f(Buffer<float> a) {}", "RWBuffer<uint> bins : register(u0);\n", "struct S { Buffer b; }",
          "void f(AppendStructuredBuffer<S> a) {}", "#define FROM(T) ConsumeStructuredBuffer<T>\n",
          "float Buffers;\nvoid f(Buffer<float> Buffer) {}"})
        EXPECT_EQ(with_own_types(text), text + "\nimport kf_buffers;\n");
    for (const std::string text :
         {"float4 f(Texture2D t) { return t[0]; }", "RWTexture3D<float> out : register(u0);\n",
          "float f(Optional<SamplerState> s);", "struct S { Sampler2DArray<half2> s[4]; }"})
        EXPECT_EQ(with_own_types(text), text + "\nimport kf_textures;\n");
    for (const std::string text :
         {"float f(DiffTexture2D<float> a);", "typealias T = DiffTexture2D<half3, TextureAddress.repeat>;"})
        EXPECT_EQ(with_own_types(text), text + "\nimport kf_diff_textures;\n");
    const std::string both = "void f(TensorView<float> a, Buffer<float> b) {}";
    EXPECT_EQ(with_own_types(both), both + "\nimport kf_buffers;\nimport kf_views;\n");
}

TEST(OwnTypes, OtherTextsStay) {
    for (const std::string text :
         {"float f(Tensor<float, 1> t) { return t[0]; }", "// TensorView\nvoid f() {}",
          "void f(MyTensorViews v) {}", "struct TensorView<T> { T x; }\nvoid f(TensorView<float> a) {}",
          "typealias TensorView = Other;\nvoid f(TensorView a) {}",
          "import kf_views;\nvoid f(TensorView<float> a) {}", "float f(StructuredBuffer<float> b);",
          "struct Buffer<T> { T* at; }\nfloat f(Buffer<float> b);", "enum Buffer { one }; float f(Buffer b);",
          "typedef StructuredBuffer<float> Buffer;\nfloat f(Buffer b);",
          "float f(float Buffer) { return Buffer; }", "float f(S s) { return s.SamplerState; }",
          "float f(S s) { return s.Buffer < 1 ? s.Buffer[0] : Buffer(3); }",
          "import kf_buffers;\nvoid f(Buffer<float> a) {}",
          "struct DiffTexture2D<T> { T x; }\nfloat f(DiffTexture2D<float> a);"})
        EXPECT_EQ(with_own_types(text), text);
}

TEST(OwnTypes, LeaveModulesOfNamesThatOthersDeclare) {
    const ModuleNames shadowed = shadowed_modules(
        {{"a.slang", "public struct Buffer<T> { T* at; }"}, {"b.slang", "float f(TensorView<float> b);"}});
    EXPECT_THAT(shadowed, ElementsAre("kf_buffers"));
    const std::string text = "import a;\nfloat f(Buffer<float> b, RWBuffer<float> c);";
    EXPECT_EQ(with_own_types(text, shadowed), text);
    const std::string other = "float f(TensorView<float> b);";
    EXPECT_EQ(with_own_types(other, shadowed), other + "\nimport kf_views;\n");
}

TEST(OwnTypes, TexturesAreFoundInModules) {
    EXPECT_FALSE(name_textures({{"a.slang", "import kf;\n"}, {"b.slang", "float f(Buffer<int> b);"}}));
    EXPECT_FALSE(name_textures({{"a.slang", "struct Texture2D {}; float f(Texture2D t);"}}));
    EXPECT_TRUE(name_textures({{"a.slang", "float f();"}, {"b.slang", "float f(TextureCube<float> t);"}}));
}

TEST(OwnTypes, SupportModulesForViewsAreSeldomNeeded) {
    EXPECT_FALSE(name_foreign_types({{"a.slang", "import kf;\n"}, {"b.slang", "float f(Buffer<int> b);"}}));
    EXPECT_TRUE(name_foreign_types({{"a.slang", "float f();"}, {"b.slang", "import slangpy;\n"}}));
    EXPECT_TRUE(name_foreign_types({{"a.slang", "void f(TensorView<float> t);"}}));
    EXPECT_TRUE(name_foreign_types({{"a.slang", "float f(DiffTexture2D<float> t);"}}));
    EXPECT_TRUE(has_foreign_names("kf_views"));
    EXPECT_TRUE(has_foreign_names("kf_diff_textures"));
    EXPECT_FALSE(has_foreign_names("kf"));
}

}  // namespace
}  // namespace kf::gen
