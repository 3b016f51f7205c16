// Textures in kernels for CUDA: what Slang and NVRTC make of each method, and what is refused.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cuda/nvrtc.h"
#include "cuda/unit.h"
#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A kernel whose block is `fields` and that calls `user(args, t)` of the module at `file`.
struct Program {
    std::string fields;
    std::string body;
    std::string samplers = "1";
    std::string functions = {};
};

std::string module_text(const Program& program) {
    return program.functions + "\npublic struct Args {\n" + program.fields +
           "\npublic float* out;\n}\npublic void user(Args args, uint3 t) {\n" + program.body + "\n}\n";
}

class CudaTextures : public testing::Test {
protected:
    Outcome<CompiledKernel> compile(const Program& program, CodeTarget target = CodeTarget::cuda_source) {
        CompilerOptions options;
        file_ = folder_.write("user.slang", module_text(program)).string();
        options.modules = {file_};
        const std::string samplers =
            target == CodeTarget::spirv
                ? ""
                : "import kf_textures;\nexport public static const int kf_samplers = " + program.samplers +
                      ";\n";
        const std::string kernel =
            "import user;\n" + samplers +
            "[shader(\"compute\")] [numthreads(64, 1, 1)]\n"
            "void kern(uint3 t : SV_DispatchThreadID, uniform Args args) { user(args, t); }\n";
        return make_compiler(options, support_modules())
            ->compile({"kern", kernel, {"/spec.kf.json", 7, 3}}, target);
    }

    /// Empty where it is refused, which is a failure.
    CompiledKernel compiled(const Program& program) {
        Outcome<CompiledKernel> kernel = compile(program);
        if (!kernel) {
            ADD_FAILURE() << describe(kernel.errors());
            return {};
        }
        return std::move(kernel.value());
    }

    /// PTX, which ptxas has taken as well.
    static std::string ptx_of(const CompiledKernel& kernel, const std::string& architecture,
                              const std::string& entry_point = "kern") {
        const auto nvrtc = open_nvrtc(wheel_cuda_search(KF_SITE_PACKAGES));
        if (!nvrtc) {
            ADD_FAILURE() << "no NVRTC in " KF_SITE_PACKAGES ": install tests/requirements.txt";
            return {};
        }
        const CudaKernelSource source{entry_point, kernel.code, {}, 64, 0, {}};
        const auto unit = cuda_unit(source);
        if (!unit) {
            ADD_FAILURE() << describe(unit.errors());
            return {};
        }
        const auto code = nvrtc.value()->compile(
            {"kern", unit.value().defines + std::string(unit.value().prelude), unit.value().bounded},
            architecture);
        if (!code) {
            ADD_FAILURE() << describe(code.errors());
            return {};
        }
        return code.value().ptx;
    }

    ScratchFolder folder_;
    std::string file_;
};

const Program every_method{
    R"(public Texture1D<float> t1; public Texture1DArray<half2> t1a; public Texture2D<float3> t2;
public Texture2DArray<float2> t2a; public Texture3D<half4> t3; public TextureCube tc; public TextureCubeArray<float> tca;
public Texture2D<int3> ti; public Texture2DArray<uint> tu;
public Sampler1D<float> s1; public Sampler1DArray<float> s1a; public Sampler2D<half3> s2; public Sampler2DArray s2a;
public Sampler3D s3; public SamplerCube sc; public SamplerCubeArray sca;
public SamplerState s[2]; public SamplerComparisonState compare;
public RWTexture1D<half> w1; public RWTexture1DArray<float> w1a; public RWTexture2D<half3> w2;
public RWTexture2DArray<int2> w2a; public RWTexture3D<uint> w3;)",
    R"(float4 r = 0;
const SamplerState a = args.s[0];
const SamplerState b = args.s[1];
r.x += args.t1.Load(int2(t.xy)) + args.t1.Load(int2(t.xy), 1) + args.t1[t.x] + args.t1.mips[1][t.x] + args.t1.Sample(a, 0.5) +
       args.t1.SampleLevel(b, 0.5, 1, 2) + args.t1.SampleGrad(b, 0.3, 0.1, 0.2) + args.t1.SampleGrad(b, 0.3, 0.1, 0.2, 1);
r.xy += args.t1a.Load(int3(t)) + args.t1a[t.xy] + args.t1a.Sample(a, float2(0.5, 1), 1) + args.t1a.SampleLevel(a, float2(0.5, 1), 2) +
        args.t1a.SampleGrad(b, float2(0.3, 2), 0.1, 0.2) + args.t1a.SampleGrad(b, float2(0.3, 2), 0.1, 0.2, 3);
r.xyz += args.t2.Load(int3(t)) + args.t2.Load(int3(t), int2(1)) + args.t2[t.xy] + args.t2[int2(t.xy)] + args.t2.mips[2][t.xy] +
         args.t2.Sample(a, float2(0.5)) + args.t2.Sample(a, float2(0.5), int2(1), 2) + args.t2.SampleLevel(a, float2(0.5), 2, int2(1, 2)) +
         args.t2.SampleGrad(b, float2(0.3), float2(0.1), float2(0.2)) + args.t2.SampleGrad(b, float2(0.3), float2(0.1), float2(0.2), int2(3));
r += args.t2.Gather(a, float2(0.1)) + args.t2.GatherRed(a, float2(0.1)) + args.t2.GatherGreen(a, float2(0.1), int2(2)) +
     args.t2.GatherBlue(a, float2(0.1)) + args.t2.GatherAlpha(a, float2(0.1), int2(1)) + args.s2.GatherGreen(float2(0.2)) +
     args.ti.Gather(b, float2(0.2));
r.xy += args.t2a.Load(int4(t, 1)) + args.t2a[t] + args.t2a.SampleLevel(b, float3(0.1), 0) + args.t2a.SampleLevel(b, float3(0.1), 0, int2(1)) +
        args.t2a.SampleGrad(b, float3(0.1), float2(0.1), float2(0.2)) + args.t2a.SampleGrad(b, float3(0.1), float2(0.1), float2(0.2), int2(1));
r += args.t3.Load(int4(t, 1)) + args.t3[t] + args.t3.mips[2][t] + args.t3.SampleLevel(b, float3(0.1), 0) +
     args.t3.SampleLevel(b, float3(0.1), 0, int3(1)) + args.t3.SampleGrad(b, float3(0.1), float3(0.1), float3(0.2)) +
     args.t3.SampleGrad(b, float3(0.1), float3(0.1), float3(0.2), int3(1));
r += args.tc.Sample(a, float3(1)) + args.tc.SampleLevel(a, float3(1), 0) + args.tc.SampleGrad(a, float3(1), float3(0), float3(0));
r += args.tca.Sample(a, float4(1)) + args.tca.SampleLevel(a, float4(1), 0) + args.tca.SampleGrad(a, float4(1), float3(0), float3(0));
r.xyz += args.ti.Load(int3(t)) + args.ti[t.xy] + int3(args.tu[t]) + sampled(args.t2, b);
r += args.s1.Sample(0.2) + args.s1a.SampleLevel(float2(0.2), 1) + args.s2a.Sample(float3(0.1)) + args.s2a.Load(int4(1)) +
     args.s3.SampleLevel(float3(0.1), 2) + args.sc.Sample(float3(0.1)) + args.sca.SampleLevel(float4(0.1), 2);
r.xyz += args.s2.Sample(float2(0.1)) + args.s2[t.xy] + args.s2.SampleGrad(float2(0.1), float2(0), float2(0));
uint w, h, d, m; int iw, ih, id, im; float fw, fh, fd, fm;
args.t1.GetDimensions(w); args.t1.GetDimensions(1, iw, im); r += w + iw + im;
args.t1a.GetDimensions(w, h); args.t1a.GetDimensions(1, fw, fh, fm); r += w + h + fw + fh + fm;
args.t2.GetDimensions(w, h); args.t2.GetDimensions(1, fw, fh, fm); r += w + h + fw + fh + fm;
args.t2a.GetDimensions(w, h, d); args.t2a.GetDimensions(1, w, h, d, m); r += w + h + d + m;
args.t3.GetDimensions(w, h, d); args.t3.GetDimensions(1, iw, ih, id, im); r += w + h + d + id + im;
args.tc.GetDimensions(w, h); args.tca.GetDimensions(1, fw, fh, fd, fm); r += w + h + fw + fd + fm;
args.s2.GetDimensions(iw, ih); args.w2.GetDimensions(w, h); args.w3.GetDimensions(fw, fh, fd); r += iw + ih + w + fd;
args.w1.GetDimensions(w); args.w1a.GetDimensions(w, h); args.w2a.GetDimensions(iw, ih, id); r += w + h + id;
args.w1[t.x] = half(r.x); args.w1[t.x] += half(1); args.w1.Store(int(t.x), half(2)); r += args.w1.Load(int(t.x));
args.w1a[t.xy] = r.x; args.w1a[t.xy] *= 2; r += args.w1a.Load(int2(t.xy));
args.w2[t.xy] = half3(r.xyz); args.w2[t.xy].x = half(1); r.xyz += args.w2[t.xy];
args.w2a[t] = int2(r.xy); args.w2a[t].y = 3; r.xy += args.w2a[t];
args.w3[t] = uint(r.x); ++args.w3[t]; r += args.w3[t];
args.out[t.x] = r.x + r.y + r.z + r.w;)",
    "3",
    "T sampled<T : ITexelElement>(Texture2D<T> t, SamplerState s) { return t.SampleLevel(s, float2(0.5), 1); "
    "}"};

TEST_F(CudaTextures, EveryMethodCompiles) {
    const CompiledKernel kernel = compiled(every_method);
    for (const char* architecture : {"sm_75", "sm_90"}) {
        const std::string ptx = ptx_of(kernel, architecture);
        for (const char* instruction :
             {"tex.level.2d", "tex.level.a2d", "tex.level.3d", "tex.level.cube", "tex.level.acube",
              "tex.grad.2d",  "tex.grad.a2d",  "tex.grad.3d",  "tex.grad.cube",  "tex.grad.acube",
              "tld4.r.2d",    "tld4.g.2d",     "tld4.b.2d",    "tld4.a.2d",      "suld.b.2d",
              "suld.b.a2d",   "suld.b.3d",     "sust.b.2d",    "sust.b.a2d",     "sust.b.3d"}) {
            EXPECT_THAT(ptx, HasSubstr(instruction));
        }
    }
}

TEST_F(CudaTextures, HandlesLieAsTheHostWritesThem) {
    const CompiledKernel kernel =
        compiled({"public Texture2D<float3> t; public Sampler2D c; public SamplerState s;\n"
                  "public RWTexture3D<float> w; public SamplerComparisonState last;",
                  "args.w[t] = args.t.Sample(args.s, float2(0)).x;", "3"});
    std::vector<std::string> places;
    for (const FieldLayout& field : kernel.block) {
        if (field.name.find('.') == std::string::npos || field.name.starts_with("w."))
            places.push_back(field.name + "@" + std::to_string(field.offset) + "+" +
                             std::to_string(field.size));
    }
    EXPECT_THAT(places,
                ElementsAre("t@0+48", "c@48+32", "s@80+8", "w@88+32", "w.surface@88+8", "w.width@96+4",
                            "w.height@100+4", "w.depth_or_layers@104+4", "w.first_layer@108+4",
                            "w.format@112+4", "w.levels@116+4", "last@120+8", "out@128+8"));
}

TEST_F(CudaTextures, StatedFormatsLeaveOneStore) {
    const std::string ptx =
        ptx_of(compiled({"public RWTexture2D<float4> w;", "store(kf.with_format(args.w, 2), t.xy);", "1",
                         "void store(RWTexture2D<float4> w, uint2 at) { w[at] = float4(at.x, at.y, 0, 1); }\n"
                         "import kf_textures;\n"}),
               "sm_90");
    EXPECT_THAT(ptx, HasSubstr("sust.b.2d.b32.zero"));
    for (const char* other : {"b8.zero", "b16.zero", "v2.b32.zero", "v4.b32.zero", "cvt.rn.f16"})
        EXPECT_THAT(ptx, Not(HasSubstr(other)));
}

TEST_F(CudaTextures, VulkanKeepsSlangsOwn) {
    const auto kernel =
        compile({"", "args.out[0] = 1;", "1", "float f(Texture2D t) { return t.Load(int3(0)).x; }"},
                CodeTarget::spirv);
    EXPECT_TRUE(kernel) << describe(kernel.errors());
}

TEST_F(CudaTextures, WhatTheyLackIsRefusedWhereItIsCalled) {
    const std::string comparison = "CUDA has no samplers that compare";
    const std::string derivatives = "compute kernels have no derivatives";
    const std::string gathers = "CUDA gathers from 2D textures alone";
    const std::vector<std::pair<std::string, std::string>> refused{
        {"args.t.SampleCmp(args.compare, float2(0), 0.5)", comparison},
        {"args.t.SampleCmpLevelZero(args.compare, float2(0), 0.5, int2(1))", comparison},
        {"args.t.SampleCmpLevel(args.compare, float2(0), 0.5, 1)", comparison},
        {"args.t.GatherCmp(args.compare, float2(0), 0.5).x", comparison},
        {"args.t.GatherCmpRed(args.compare, float2(0), 0.5).x", comparison},
        {"args.t.SampleBias(args.s, float2(0), 1).x", derivatives},
        {"args.t.CalculateLevelOfDetail(args.s, float2(0))", derivatives},
        {"args.t.CalculateLevelOfDetailUnclamped(args.s, float2(0))", derivatives},
        {"args.t.SampleGrad(args.s, 0, float2(0), float2(0), int2(0), 1).x",
         "CUDA clamps no level of detail here"},
        {"args.i.SampleLevel(args.s, float2(0), 0)", "integers aren't sampled"},
        {"args.c.GatherRed(args.s, float3(0)).x", gathers},
        {"args.a.Gather(args.s, float3(0)).x", gathers}};
    std::string body;
    for (const auto& [call, reason] : refused) body += "args.out[0] += " + call + ";\n";
    const Program program{
        "public Texture2D t; public TextureCube c; public Texture2DArray a; public Texture2D<int> i;\n"
        "public SamplerState s; public SamplerComparisonState compare;",
        body};
    const auto kernel = compile(program);
    ASSERT_FALSE(kernel);
    ASSERT_EQ(kernel.errors().size(), refused.size()) << describe(kernel.errors());
    std::int64_t line = 7;
    for (std::size_t i = 0; i < refused.size(); ++i) {
        const Diagnostic& error = kernel.errors()[i];
        EXPECT_EQ(error.id, "cuda-texture");
        EXPECT_THAT(error.message, HasSubstr(refused[i].second));
        EXPECT_EQ(error.location.file, file_);
        EXPECT_EQ(error.location.line, ++line);
    }
}

TEST_F(CudaTextures, WhatNoKernelCallsMayDoAnything) {
    const auto kernel =
        compile({"", "args.out[0] = 1;", "1",
                 "float unused(Texture2D t, SamplerState s) { return t.SampleBias(s, 0, 1).x; }"});
    EXPECT_TRUE(kernel) << describe(kernel.errors());
}

TEST_F(CudaTextures, AtomicsAreRefused) {
    const auto kernel = compile({"public RWTexture2D<int> w;", "InterlockedAdd(args.w[t.xy], 1);"});
    ASSERT_FALSE(kernel);
    const Diagnostic& error = kernel.errors().front();
    EXPECT_EQ(error.id, "cuda-texture");
    EXPECT_THAT(error.message, HasSubstr("CUDA has no atomics on textures"));
    EXPECT_EQ(error.location.file, file_);
}

std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// mip_kernel.ptx of what the compiler makes, for each driver that the runtime takes: without comments, and
/// what Slang's prelude declares.
std::string embedded_ptx(const std::string& made) {
    std::string text =
        "// What Slang and NVRTC make of mip_kernel.slang: for every driver and device that the runtime "
        "takes.\n"
        "// arch=sm_70;version=12000;entries=kf_generate_mip;\n";
    const std::string unit_name = "kf_generate_mip_0";
    std::istringstream lines(cap_ptx_version(made, 8, 0));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string::npos || line.compare(first, 2, "//") == 0 || line.starts_with(".global"))
            continue;
        for (std::size_t at = line.find(unit_name); at != std::string::npos;
             at = line.find(unit_name, at + 1))
            line.erase(at + unit_name.size() - 2, 2);
        // NVRTC knows no older one any more; nothing in the kernel is newer.
        text += (line == ".target sm_75" ? ".target sm_70" : line) + "\n";
    }
    return text;
}

TEST_F(CudaTextures, MipKernelIsMadeOfItsSource) {
    const std::filesystem::path folder = std::filesystem::path(KF_SOURCE_DIR) / "runtime/cuda";
    CompilerOptions options;
    options.modules = {folder_.write("none.slang", "module none;").string()};
    const Outcome<CompiledKernel> kernel =
        make_compiler(options, support_modules())
            ->compile({"kf_generate_mip", read_text(folder / "mip_kernel.slang"), {"/spec.kf.json", 1, 1}},
                      CodeTarget::cuda_source);
    ASSERT_TRUE(kernel) << describe(kernel.errors());
    const std::string ptx = embedded_ptx(ptx_of(kernel.value(), "sm_75", "kf_generate_mip"));
    if (std::getenv("KF_ACCEPT_GOLDENS") != nullptr && !HasFailure()) {
        std::ofstream(folder / "mip_kernel.ptx", std::ios::binary) << ptx;
    }
    EXPECT_TRUE(ptx == read_text(folder / "mip_kernel.ptx"))
        << "runtime/cuda/mip_kernel.ptx isn't what mip_kernel.slang and kf_texels.slang come to. To accept "
           "it, once it "
           "ran on a GPU: KF_ACCEPT_GOLDENS=1 cuda_textures_test";
}

}  // namespace
}  // namespace kf::gen
