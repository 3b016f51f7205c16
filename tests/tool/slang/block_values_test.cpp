// Tests which constant buffers become the values that they hold.
#include "slang/block_values.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace kf::gen {
namespace {

std::string without_runs_of_blanks(std::string text) {
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
               text.end());
    return text;
}

TEST(BlockValues, AreWhatParametersAndFieldsTake) {
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"float f(ConstantBuffer<Scene> s, float x) { return s.a; }",
              "float f( Scene s, float x) { return s.a; }"},
             {"float f(uniform ParameterBlock < n::Pair<int, float[2]> > s);",
              "float f(uniform n::Pair<int, float[2]> s);"},
             {"float f(ConstantBuffer<A, ScalarDataLayout> a,\n ConstantBuffer<B<C>> b[2]);",
              "float f( A a,\n B<C> b[2]);"},
             {"namespace n { struct S { ConstantBuffer<float4> c; }; }",
              "namespace n { struct S { float4 c; }; }"},
             {"struct S { ParameterBlock<ConstantBuffer<A> > c; };", "struct S { A c; };"}}) {
        const std::string changed = with_block_values(text);
        EXPECT_EQ(without_runs_of_blanks(changed), expected);
        EXPECT_EQ(changed.size(), text.size());
        EXPECT_EQ(changed.find('\n'), text.find('\n'));
    }
}

TEST(BlockValues, TextureBuffersAreConstantBuffers) {
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"tbuffer Filters : register(t3) { float a : packoffset(c1); } ",
              "cbuffer Filters { float a : packoffset(c1); } "},
             {"[[vk::binding(1)]]\nTextureBuffer<Scene> s : register(t0, space1), t;",
              "[[vk::binding(1)]]\nConstantBuffer<Scene>s , t;"},
             {"float f(TextureBuffer<Scene> s) { return s.a; }", "float f( Scene s) { return s.a; }"},
             {"tbuffer T : register(t3", "cbuffer T "},
             {"float tbuffer = 1; // TextureBuffer<A>", "float tbuffer = 1; // TextureBuffer<A>"}})
        EXPECT_EQ(without_runs_of_blanks(with_block_values(text)), expected);
}

TEST(BlockValues, OtherTextsStay) {
    for (const std::string text :
         {"ConstantBuffer<Scene> scene : register(b0);", "namespace n::m { ParameterBlock<Scene> scene; }",
          "using namespace n;\n[[vk::binding(0)]] ConstantBuffer<Scene> scene;",
          "float f(float x) { return x; } // ConstantBuffer<Scene>\nParameterBlock<Scene> scene;",
          "#define BLOCK ConstantBuffer<Scene>\nfloat f(BLOCK b);", "float f(ConstantBuffer b, int a);",
          "float f(ConstantBuffer<A b) { return 1; }", "float f(MyConstantBuffer<A> b);",
          "struct S { DescriptorHandle<ConstantBuffer<A>> a; ConstantBuffer<A>.Handle b; }",
          "typedef ConstantBuffer<Scene> Block;"})
        EXPECT_EQ(with_block_values(text), text);
}

}  // namespace
}  // namespace kf::gen
