// Kernels with textures, as SPIR-V that drivers take.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <string>

#include "slang/texture_accesses.h"
#include "slang/texture_arrays.h"
#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string resources =
    "[[vk::binding(0, 1)]] Texture2D<float4> kf_bound_maps[3];\n"
    "[[vk::binding(3, 1)]] SamplerState kf_bound_samplers[2];\n"
    "[[vk::binding(5, 1)]] [format(\"rgba8\")] RWTexture2D<float3> kf_bound_outs[2];\n"
    "[[vk::binding(7, 1)]] [format(\"r32ui\")] RWTexture2D<uint> kf_bound_counts[2];\n"
    "[[vk::binding(9, 1)]] Texture2D<uint4> kf_bound_numbers;\n";

Outcome<CompiledKernel> compiled(const std::string& body) {
    KernelSource source{
        "kern",
        resources +
            "struct Args { int i; int j; }\n[shader(\"compute\")] [numthreads(64, 1, 1)] "
            "[DerivativeGroupLinear]\nvoid kern(uint3 t : SV_DispatchThreadID, uniform Args args) {\n" +
            body + "\n}\n",
        {"/spec.kf.json", 7, 3}};
    source.padded_textures = {"kf_bound_outs"};
    return make_compiler()->compile(source, CodeTarget::spirv);
}

std::string spirv_text(const std::string& code) {
    const ScratchFolder folder;
    const std::string command = "spirv-dis --no-color " + folder.write("kernel.spv", code).string();
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (pipe != nullptr && fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
        text += buffer.data();
    EXPECT_TRUE(pipe != nullptr && pclose(pipe) == 0) << text;
    return text;
}

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

TEST(Textures, InArraysAreVariablesOfTheirOwn) {
    const auto kernel = compiled("kf_bound_outs[1][t.xy] = kf_bound_maps[2][t.xy].xyz;");
    ASSERT_TRUE(kernel) << describe(kernel.errors());
    const std::string text = spirv_text(kernel.value().code);
    for (const char* binding : {"Binding 0", "Binding 1", "Binding 2", "Binding 5", "Binding 6"})
        EXPECT_THAT(text, HasSubstr(binding));
    EXPECT_THAT(text, Not(HasSubstr("OpSwitch")));
    EXPECT_THAT(text, Not(HasSubstr("OpAccessChain %_ptr_UniformConstant")));
}

TEST(Textures, AreSampledBySwitches) {
    const auto kernel = compiled(
        "float3 sum = 0;\n"
        "for (int k = 0; k < args.j; ++k)\n"
        "    sum += kf_bound_maps[(t.x + k) % 3].SampleLevel(kf_bound_samplers[t.y % 2], float2(t.xy), "
        "0).xyz;\n"
        "kf_bound_outs[t.x % 2][t.xy] = sum;\n"
        "InterlockedAdd(kf_bound_counts[args.i & 1][t.xy], 1);");
    ASSERT_TRUE(kernel) << describe(kernel.errors());
    const std::string text = spirv_text(kernel.value().code);
    EXPECT_EQ(count(text, "OpSwitch"), 3U);
    EXPECT_EQ(count(text, "OpImageSampleExplicitLod"), 6U) << "each texture with each sampler";
    EXPECT_EQ(count(text, "OpImageWrite"), 2U);
    EXPECT_EQ(count(text, "OpAtomicIAdd"), 2U);
}

TEST(Textures, AreSampledAtTheFirstLevel) {
    const auto kernel =
        compiled("kf_bound_outs[0][t.xy] = kf_bound_maps[0].Sample(kf_bound_samplers[0], float2(t.xy)).xyz;");
    ASSERT_TRUE(kernel) << describe(kernel.errors());
    EXPECT_THAT(kernel.value().features, IsEmpty());
    const std::string text = spirv_text(kernel.value().code);
    EXPECT_THAT(text, HasSubstr("OpImageSampleExplicitLod"));
    EXPECT_THAT(text, Not(HasSubstr("Implicit")));
    EXPECT_THAT(text, Not(HasSubstr("Derivative")));
    // The fourth component is 1.
    EXPECT_THAT(text, HasSubstr("%float_1"));
    EXPECT_THAT(text, HasSubstr("OpCompositeInsert"));
}

TEST(Textures, AreNotSampledInOtherWays) {
    for (const char* sampled : {"kf_bound_maps[0].SampleBias(kf_bound_samplers[0], float2(t.xy), 0.5).xyz",
                                "kf_bound_maps[0].CalculateLevelOfDetail(kf_bound_samplers[0], float2(t.xy))",
                                "kf_bound_numbers.SampleLevel(kf_bound_samplers[0], float2(t.xy), 0).xyz"}) {
        const auto kernel = compiled("kf_bound_outs[0][t.xy] = " + std::string(sampled) + ";");
        ASSERT_FALSE(kernel) << sampled;
        EXPECT_EQ(kernel.errors().front().id, "texture-access") << describe(kernel.errors());
        EXPECT_EQ(kernel.errors().front().location.line, 7);
    }
}

TEST(Textures, OtherWordsAreNoModules) {
    std::string code = "no words";
    EXPECT_EQ(settle_texture_accesses(code, {}), TextureAccesses::no_spirv);
    EXPECT_EQ(settle_texture_arrays(code), TextureArrays::no_spirv);
    EXPECT_EQ(code, "no words");
}

TEST(Textures, AreReflected) {
    const ScratchFolder folder;
    const Outcome<Module> module = make_compiler()->reflect(
        {folder.write("sample.slang",
                      "struct S { [format(\"rgba16f\")] RWTexture2D<float4> a; Texture2DMS<float4> b; "
                      "RWTexture2D<unorm float4> c; }\n"
                      "void f([format(\"r8\")] RWTexture2D<float> a, [[vk::image_format(\"rg16f\")]] "
                      "RWTexture2D<float2> b[2],\n"
                      "       Texture1DArray<uint3> c, TextureCubeArray<half4> d, Sampler3D<float2> e, "
                      "SamplerComparisonState f,\n"
                      "       RasterizerOrderedTexture2D<float4> g, S h) {}\n"
                      "T g<T : ITexelElement>([format(\"r16f\")] RWTexture2D<T> a) { return a[0]; }\n")});
    ASSERT_TRUE(module) << describe(module.errors());
    const Function& f = module.value().functions.front();
    const auto type = [&](std::size_t index) { return f.parameters.at(index).type; };
    EXPECT_EQ(type(0).name, "RWTexture2D<float>");
    EXPECT_EQ(type(0).texture.format, "r8");
    EXPECT_TRUE(type(0).is_writable);
    EXPECT_EQ(type(1).element.front().name, "RWTexture2D<float2>");
    EXPECT_EQ(type(1).element.front().texture.format, "rg16f");
    EXPECT_EQ(type(2).texture, (TextureForm{TextureDimension::one, true}));
    EXPECT_EQ(type(2).element.front().name, "uint3");
    EXPECT_EQ(type(3).texture, (TextureForm{TextureDimension::cube, true}));
    EXPECT_TRUE(type(4).texture.is_combined);
    EXPECT_EQ(type(4).texture.dimension, TextureDimension::three);
    EXPECT_EQ(type(5).kind, TypeKind::sampler);
    EXPECT_TRUE(type(5).texture.is_comparison);
    EXPECT_EQ(type(6).kind, TypeKind::resource);
    EXPECT_EQ(type(7).fields.at(0).type.texture.format, "rgba16f");
    EXPECT_TRUE(type(7).fields.at(1).type.texture.is_multisampled);
    EXPECT_TRUE(type(7).fields.at(2).type.texture.is_fraction);
    EXPECT_EQ(module.value().functions.back().parameters.at(0).type.texture.format, "r16f") << "of any type";
}

}  // namespace
}  // namespace kf::gen
