// From a spec to the outputs with the real Slang and NVRTC, on CUDA.
#include "run/generate.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/artifact.h"
#include "core/sha256.h"
#include "run/inspection.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* functions = R"slang(
import kf;
[Differentiable]
float polynomial(float a, float b, float c, float x) { return a * x * x + b * x + c; }
[Differentiable]
half halved(half x, half y) { return x * y * 0.5h; }
[Differentiable]
double squared(double x) { return x * x; }
float chosen(bool which, int8_t small, float3 v) { return which ? float(small) : v.x + v.y + v.z; }
half last(Tensor<half2x3, 1> t, int i) { return t[i][1][2]; }
half last_of_array(Tensor<half3[2], 1> t, int i) { return t[i][1][2]; }
void put_last(WTensor<half2x3, 1> t, half v) { t[0] = half2x3(0, 0, 0, 0, 0, v); }
float lost(float x)
{
    __target_switch
    {
    case cuda: __intrinsic_asm "kf_no_such_function($0)";
    case spirv: return x;
    }
}
float by_hand(float x)
{
    __target_switch
    {
    case cuda:
        __requirePrelude("#include \"by_hand.cuh\"");
        __intrinsic_asm "twice_by_hand($0)";
    case spirv: return 2 * x;
    }
}
)slang";

constexpr const char* calls = R"(
    {"function": "polynomial", "args": {"a": "value", "b": "value", "c": "value", "x": ["tensor[1]", "tensor[2]"]}, "backward": true},
    {"function": "halved", "args": {"x": "tensor[1]", "y": "value"}, "backward": true},
    {"function": "squared", "args": {"x": "tensor[1]"}, "backward": true},
    {"function": "chosen", "args": {"which": "tensor[1]", "small": "tensor[1]", "v": ["value", "tensor[2]"]}})";

/// NVRTC from its wheel, whatever else the machine has.
Outcome<std::shared_ptr<const CudaCompiler>> open_wheel(const std::vector<std::filesystem::path>& folders) {
    CudaSearch search = wheel_cuda_search(KF_SITE_PACKAGES);
    search.source_folders = folders;
    return open_nvrtc(search);
}

class GenerateTest : public testing::Test {
protected:
    Outcome<Generated> generate(const std::string& targets, const std::string& call_texts,
                                const OpenCuda& open_cuda = open_wheel) {
        (void)folder_.write("m.slang", functions);
        Options options;
        options.command = Command::generate;
        options.spec = folder_.write("m.kf.json", R"({"version": 1, "name": "m", "modules": ["m.slang"],
"targets": )" + targets + R"(,
"calls": [)" + call_texts + "]}");
        options.output_directory = folder_.path() / "out";
        options.jobs = 2;
        const Outcome<Spec> spec = load_spec(options, disk_);
        if (!spec) return spec.errors();
        return generate_files(spec.value(), options, output_paths(spec.value(), options), open_cuda);
    }

    static std::string artifact_of(const Generated& generated) {
        for (const OutputFile& file : generated.files) {
            if (file.path.extension() == ".kfa") return file.content;
        }
        ADD_FAILURE() << "no artifact";
        return {};
    }

    static manifest::Manifest manifest_of(const Generated& generated) {
        const std::string content = artifact_of(generated);
        return artifact::read(std::as_bytes(std::span(content)));
    }

    ScratchFolder folder_;
    DiskFileSystem disk_;
};

std::string start_of(const manifest::Image& image) {
    return {reinterpret_cast<const char*>(image.bytes.data()),
            std::min<std::size_t>(image.bytes.size(), 400)};
}

TEST_F(GenerateTest, OverloadsOfOneCallShareKernels) {
    const std::string any = R"(["value", "tensor[1]", "tensor[2]", "tensor[3]"])";
    const auto generated =
        generate(R"(["vulkan"])", R"({"function": "polynomial", "args": {"c": "value", "a": )" + any +
                                      R"(, "b": )" + any + R"(, "x": )" + any + "}}");
    ASSERT_TRUE(generated) << describe(generated.errors());
    const manifest::Manifest manifest = manifest_of(generated.value());
    EXPECT_EQ(manifest.functions.at(0).calls.size(), 64U);
    EXPECT_EQ(manifest.kernels.size(), 71U);
}

TEST_F(GenerateTest, OneArtifactHoldsSpirvCubinsAndPtx) {
    const auto generated = generate(
        R"(["vulkan", {"cuda": {"arch": ["sm_80", "sm_90", "sm_100"], "ptx_isa_max": "8.7"}}])", calls);
    ASSERT_TRUE(generated) << describe(generated.errors());
    const manifest::Manifest manifest = manifest_of(generated.value());
    EXPECT_EQ(manifest.producers.at("nvrtc"), "13.0");
    EXPECT_GE(manifest.kernels.size(), 12u);
    std::set<std::string> backward;
    std::set<std::string> names;
    for (const manifest::Kernel& kernel : manifest.kernels) {
        if (kernel.name.find(".backward.") != std::string::npos) backward.insert(kernel.name);
        EXPECT_EQ(kernel.layouts.size(), 2u) << kernel.name;
        std::vector<std::string> formats;
        for (const manifest::Image& image : kernel.images) {
            formats.push_back(image.format + image.architecture);
            EXPECT_FALSE(image.bytes.empty());
            if (image.format == "cubin") {
                EXPECT_THAT(start_of(image), StartsWith("\x7F"
                                                        "ELF"));
            }
            if (image.format == "ptx") {
                EXPECT_THAT(start_of(image), HasSubstr(".version 8.7\n.target sm_100\n"));
                const std::string ptx(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
                EXPECT_THAT(ptx, HasSubstr(".entry " + image.entry_point + "("));
                EXPECT_TRUE(names.insert(image.entry_point + hex(image.sha256)).second)
                    << "one name, two kernels";
            }
        }
        EXPECT_THAT(formats, ElementsAre("spirv", "cubinsm_80", "cubinsm_90", "cubinsm_100", "ptxsm_100"))
            << kernel.name;
    }
    EXPECT_THAT(backward, Contains(StartsWith("halved.backward")));
    EXPECT_THAT(backward, Contains(StartsWith("squared.backward")));
    EXPECT_THAT(generated.value().inputs.programs,
                Contains(testing::ResultOf([](const auto& path) { return path.filename().string(); },
                                           StartsWith("libnvrtc.so"))));
    EXPECT_THAT(generated.value().inputs.programs,
                Contains(testing::Property(&std::filesystem::path::filename, "cuda_fp16.hpp")));
    const std::string text = inspection(manifest);
    for (const char* part : {"  spirv ", "  cubin sm_80 ", "  cubin sm_90 ", "  cubin sm_100 ",
                             "  ptx sm_100 ", "made by nvrtc 13.0"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

/// CUDA's half3 takes 8 bytes, ours 6: elements of 12 bytes must be touched within those.
TEST_F(GenerateTest, RowsOfThreeHalvesAreDenseOnCuda) {
    const auto generated = generate(R"([{"cuda": {"arch": ["sm_90"], "ptx": true}}])",
                                    R"({"function": "last", "args": {"t": "tensor[1]", "i": "value"}},
{"function": "last_of_array", "args": {"t": "tensor[1]", "i": "value"}},
{"function": "put_last", "args": {"t": "tensor[1]", "v": "value"}})");
    ASSERT_TRUE(generated) << describe(generated.errors());
    for (const manifest::Kernel& kernel : manifest_of(generated.value()).kernels) {
        const manifest::Image& image = kernel.images.back();
        ASSERT_EQ(image.format, "ptx");
        std::string ptx(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
        ptx.erase(0, ptx.find(".entry " + image.entry_point + "("));
        ptx.resize(ptx.find("\n}"));
        EXPECT_THAT(ptx, Not(testing::ContainsRegex("\\[%rd[0-9]+\\+1[2-9]\\]"))) << kernel.name;
    }
}

TEST_F(GenerateTest, ARunIsAFunctionOfItsInputs) {
    const char* targets = R"([{"cuda": {"arch": ["sm_90"]}}])";
    // More kernels than one worker compiles.
    const char* some = R"({"function": "polynomial", "args": {"a": "value", "b": "value", "c": "value",
"x": ["tensor[1]", "tensor[2]"]}, "backward": true},
{"function": "chosen", "args": {"which": "tensor[1]", "small": "tensor[1]", "v": "value"}})";
    const auto one = generate(targets, some);
    const auto two = generate(targets, some);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(artifact_of(one.value()), artifact_of(two.value()));
    EXPECT_GT(manifest_of(one.value()).kernels.size(), 6U);
    for (const manifest::Kernel& kernel : manifest_of(one.value()).kernels) {
        EXPECT_EQ(kernel.images.size(), 2u) << "a cubin and PTX";
        EXPECT_EQ(kernel.layouts.count("vulkan"), 0u);
    }
}

/// Calls a function before it compiles: everything has been read by then.
class CalledBack : public CudaCompiler {
public:
    CalledBack(std::shared_ptr<const CudaCompiler> own, std::function<void()> before)
        : own_(std::move(own)), before_(std::move(before)) {}
    [[nodiscard]] std::string version() const override { return own_->version(); }
    [[nodiscard]] std::vector<std::string> architectures() const override { return own_->architectures(); }
    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program, const std::string& architecture,
                                            const std::string& precompiled) const override {
        before_();
        return own_->compile(program, architecture, precompiled);
    }
    [[nodiscard]] bool precompile(const std::string& prelude, const std::string& architecture,
                                  const std::string& file) const override {
        return own_->precompile(prelude, architecture, file);
    }
    [[nodiscard]] Diagnostics check(const std::string& source,
                                    const std::string& architecture) const override {
        return own_->check(source, architecture);
    }
    [[nodiscard]] std::string build() const override { return own_->build(); }
    [[nodiscard]] std::vector<std::filesystem::path> files() const override { return own_->files(); }
    [[nodiscard]] std::vector<std::filesystem::path> headers(const std::string& source) const override {
        return own_->headers(source);
    }

private:
    std::shared_ptr<const CudaCompiler> own_;
    std::function<void()> before_;
};

/// The kernels are of what was read first, and the next run must see that this is no longer there.
TEST_F(GenerateTest, AnEditDuringTheRunIsSeenByTheNext) {
    const std::string call = R"({"function": "squared", "args": {"x": "tensor[1]"}})";
    const auto path = folder_.path() / "m.slang";
    const OpenCuda edits = [&](const auto& folders) -> Outcome<std::shared_ptr<const CudaCompiler>> {
        const auto opened = open_wheel(folders);
        if (!opened) return opened.errors();
        return std::shared_ptr<const CudaCompiler>(std::make_shared<CalledBack>(opened.value(), [&] {
            (void)folder_.write("m.slang", std::string(functions) + "float more() { return 1; }");
        }));
    };
    const auto generated = generate(R"([{"cuda": {"arch": ["sm_90"]}}])", call, edits);
    ASSERT_TRUE(generated) << describe(generated.errors());
    EXPECT_THAT(generated.value().inputs.files, Contains(testing::Pair(path, functions)));
    const RunState state = record_run(disk_, "key", generated.value().inputs, {});
    EXPECT_FALSE(is_current(disk_, state, "key"));
    (void)folder_.write("m.slang", functions);
    EXPECT_TRUE(is_current(disk_, state, "key"));
}

TEST_F(GenerateTest, HeadersThatModulesIncludeAreFoundBesideThem) {
    const std::string call = R"({"function": "by_hand", "args": {"x": "tensor[1]"}})";
    const std::string target = R"([{"cuda": {"arch": ["sm_90"]}}])";
    const auto missing = generate(target, call);
    ASSERT_FALSE(missing);
    EXPECT_THAT(describe(missing.errors()), HasSubstr("by_hand.cuh"));
    const std::string text =
        "#include <cuda.h>\n#include <stdlib.h>\n__device__ float twice_by_hand(float x) { return 2 * x; }\n";
    const auto header = folder_.write("by_hand.cuh", text);
    const auto generated = generate(target, call);
    ASSERT_TRUE(generated) << describe(generated.errors());
    EXPECT_THAT(generated.value().inputs.programs, Contains(header));
}

TEST(RunKey, TellsProgramsApart) {
    EXPECT_EQ(run_key({"0.1.0", "--python"}, {"/a/kfgen"}), run_key({"0.1.0", "--python"}, {"/a/kfgen"}));
    EXPECT_NE(run_key({"0.1.0", "--python"}, {"/a/kfgen"}), run_key({"0.1.0", "--python"}, {"/b/kfgen"}));
    EXPECT_NE(run_key({"0.1.0", "--python"}, {"/a/kfgen"}), run_key({"0.1.0"}, {"/a/kfgen"}));
    EXPECT_EQ(programs().front(), std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_F(GenerateTest, NvrtcIsNotLookedForWithoutTheTarget) {
    int looked = 0;
    const OpenCuda missing = [&](const auto&) -> Outcome<std::shared_ptr<const CudaCompiler>> {
        ++looked;
        return open_nvrtc(CudaSearch{});
    };
    const char* call = R"({"function": "squared", "args": {"x": "tensor[1]"}})";
    const auto vulkan = generate(R"(["vulkan"])", call, missing);
    ASSERT_TRUE(vulkan) << describe(vulkan.errors());
    EXPECT_EQ(looked, 0);
    EXPECT_EQ(manifest_of(vulkan.value()).producers.count("nvrtc"), 0u);

    const auto cuda = generate(R"(["vulkan", "cuda"])", call, missing);
    EXPECT_EQ(looked, 1);
    ASSERT_FALSE(cuda);
    ASSERT_EQ(cuda.errors().size(), 1u);
    EXPECT_EQ(cuda.errors()[0].id, "nvrtc-missing");

    // Before anything is compiled.
    const auto wrong = generate(R"(["vulkan", "cuda"])", R"({"function": "nowhere", "args": {}})", missing);
    ASSERT_FALSE(wrong);
    ASSERT_EQ(wrong.errors().size(), 1u);
    EXPECT_EQ(wrong.errors()[0].id, "nvrtc-missing");
    EXPECT_EQ(cuda.errors()[0].location.line, 2) << "the target";
}

TEST_F(GenerateTest, CodeThatOnlyCudaRefusesIsReportedAtItsCall) {
    const std::string call = R"(
{"function": "lost", "args": {"x": ["tensor[1]", "tensor[2]"]}},
{"function": "squared", "args": {"x": "tensor[1]"}})";
    ASSERT_TRUE(generate(R"(["vulkan"])", call));
    const auto failed = generate(R"(["vulkan", {"cuda": {"arch": ["sm_80", "sm_90"]}}])", call);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 1u) << describe(failed.errors());
    EXPECT_EQ(failed.errors()[0].id, "cuda-compile");
    EXPECT_THAT(failed.errors()[0].location.file, testing::EndsWith("m.kf.json"));
    EXPECT_EQ(failed.errors()[0].location.line, 4);
    EXPECT_THAT(failed.errors()[0].message, HasSubstr("\"kf_no_such_function\" is undefined"));
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("NVRTC 13.0 failed for sm_80")));
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("kf_no_such_function(")));
}

class DeviceHeaderTest : public GenerateTest {
protected:
    /// What kfgen says of calls of these functions, or the header.
    std::string header_of(const std::string& slang, const std::string& call_texts) {
        (void)folder_.write("d.slang", slang);
        Options options;
        options.command = Command::generate;
        options.spec = folder_.write("d.kf.json", R"({"version": 1, "name": "d", "modules": ["d.slang"],
"outputs": ["cuda_header"], "calls": [)" + call_texts +
                                                      "]}");
        options.output_directory = folder_.path() / "out";
        const Outcome<Spec> spec = load_spec(options, disk_);
        if (!spec) return describe(spec.errors());
        const OutputPaths paths = output_paths(spec.value(), options);
        const auto generated = generate_files(spec.value(), options, paths, open_wheel);
        if (!generated) return describe(generated.errors());
        for (const OutputFile& file : generated.value().files) {
            if (file.path == paths.device_header) return file.content;
        }
        return "no header";
    }
};

TEST_F(DeviceHeaderTest, KernelsByHandIncludeIt) {
    const std::string header = header_of(
        R"slang(
struct Ball : IDifferentiable { float3 center; float radius; }
[Differentiable] float distance_to(Ball ball, float3 p) { return length(p - ball.center) - ball.radius; }
)slang",
        R"({"function": "distance_to", "args": {"ball": "value", "p": ["value", "tensor[1]"]}, "backward": true})");
    ASSERT_THAT(header, HasSubstr("__device__ inline float distance_to(const Ball& ball, float3 p)"));
    const std::string kernel = header + R"cuda(
extern "C" __global__ void by_hand(d::Ball* balls, const float3* points, float* result) {
    const int i = threadIdx.x;
    result[i] = d::distance_to(balls[i], points[i]);
    d::Ball ball_grad;
    float3 point_grad;
    d::distance_to_bwd(balls[i], points[i], ball_grad, point_grad, 1.0f);
    balls[i] = ball_grad;
}
)cuda";
    const auto compiled = open_wheel({}).value()->compile({"by_hand", {}, kernel}, "sm_90");
    ASSERT_TRUE(compiled) << describe(compiled.errors());
    EXPECT_THAT(compiled.value().ptx, HasSubstr(".entry by_hand("));
}

TEST_F(DeviceHeaderTest, HalvesAndForwardDerivativesHaveForms) {
    const std::string slang = R"slang(
struct Tint : IDifferentiable { half2 uv; half3 color; half3x2 m; }
[Differentiable] half shade(Tint tint, half2 at, out half4 both) { both = half4(at, tint.uv); return dot(at, tint.uv); }
[Differentiable] float twice(float x) { return 2 * x; }
)slang";
    const std::string twice =
        R"({"function": "twice", "args": {"x": "value"}, "forward_diff": true, "backward": true})";
    const std::string header = header_of(
        slang,
        R"({"function": "shade", "args": {"tint": "value", "at": "value", "both": "value"}, "forward_diff": true}, )" +
            twice);
    EXPECT_THAT(header, HasSubstr("#include <cuda_fp16.h>"));
    EXPECT_THAT(header, HasSubstr("    __half2 uv;\n    half3 color;\n    half3x2 m;\n"));
    EXPECT_THAT(header,
                HasSubstr("__device__ inline __half shade(const Tint& tint, __half2 at, half4& both)"));
    EXPECT_THAT(header, HasSubstr("const Tint& tint_tangent, __half2 at_tangent,"));
    EXPECT_THAT(
        header,
        HasSubstr("__device__ inline float twice_fwd(float x, float x_tangent, float& result_tangent)"));
    EXPECT_THAT(header, Not(HasSubstr("shade_bwd")));
    const std::string without = header_of(slang, twice);
    EXPECT_THAT(without, Not(HasSubstr("cuda_fp16.h")));
}

TEST_F(DeviceHeaderTest, WhatHasNoFormIsRefusedByName) {
    const std::string refused = header_of(
        R"slang(
import kf;
uniform float gain;
struct Inner { float** places; }
struct Holder { Inner inner; float x; }
float louder(float x) { return x * gain; }
struct Point { float x; }
struct Bounds { StructuredBuffer<float> low; float x; }
float first(Tensor<Point, 1> points) { return points[0].x; }
[Differentiable] half halved(DiffTensor<half, 1> h) { return h[0]; }
float bounded(Bounds bounds) { return bounds.x; }
float held(Holder holder) { return holder.x; }
[shader("compute")] [numthreads(4, 1, 1)] void kernel(uint3 id : SV_DispatchThreadID, float* p) { p[id.x] = 1; }
)slang",
        R"({"function": "louder", "args": {"x": "value"}},
{"function": "held", "args": {"holder": "value"}}, {"function": "first", "args": {"points": "tensor<Point>[1]"}},
{"function": "halved", "args": {"h": "tensor<half>[1]"}},
{"function": "bounded", "args": {"bounds": {"fields": {"low": "buffer", "x": "value"}}}},
{"function": "kernel", "args": {"p": "pointer"}})");
    const std::string start = "' can't be a function of the device header: ";
    EXPECT_THAT(refused, HasSubstr("'louder" + start + "it reads the global parameter 'gain'"));
    EXPECT_THAT(refused,
                HasSubstr("'first" + start + "its parameter 'points' is 'Tensor<Point, 1>', whose elements"));
    EXPECT_THAT(refused,
                HasSubstr("'halved" + start + "its parameter 'h' is 'DiffTensor<half, 1>', whose gradients"));
    EXPECT_THAT(refused,
                HasSubstr("'bounded" + start + "its parameter 'bounds.low' is 'StructuredBuffer<float"));
    EXPECT_THAT(refused, HasSubstr("'held" + start + "its parameter 'holder.inner.places' is a pointer to"));
    EXPECT_THAT(refused, HasSubstr("'kernel" + start + "it is a kernel by itself"));
}

TEST_F(DeviceHeaderTest, MemoryHasForms) {
    const std::string header = header_of(
        R"slang(
import kf;
struct Point { float4 at; half3 color; }
[Differentiable] float3 eval(DiffTensor<float3, 2> sh, DiffTensorView<float> w, TensorView<float2> v, int i)
{ return sh[i, 0] * w[i] + v[i].x; }
int step(Point* p, Ptr<float2, Access.Read> q, RWStructuredBuffer<Point> b, ByteAddressBuffer c, int i)
{ p[i] = b[1]; int old; InterlockedAdd(((int*)p)[0], int(q[0].x + c.Load(4)), old); return old; }
float2[3] many(float x) { return { float2(x), float2(2), float2(x) }; }
)slang",
        R"({"function": "eval", "args": {"sh": "tensor<float3>[2]", "w": "tensor<float>[1]", "v": "tensor<float2>[1]",
"i": "tensor[1]"}, "backward": true},
{"function": "step", "args": {"p": "pointer", "q": "pointer", "b": "rwbuffer", "c": "byteaddress", "i": "tensor[1]"}},
{"function": "many", "args": {"x": "tensor[1]"}})");
    EXPECT_THAT(header,
                HasSubstr("__device__ inline float3 eval(const DiffTensor<const float3, 2>& sh, const "
                          "DiffTensor<float, 1>& w,"));
    EXPECT_THAT(header, HasSubstr("const Tensor<float2, 1>& v, int i, float3 result_grad)"));
    EXPECT_THAT(header, HasSubstr("int step(Point* p, const float2* q, const Buffer<Point>& b, "
                                  "const Buffer<const unsigned int>& c, int i)"));
    EXPECT_THAT(header, HasSubstr("__device__ inline Array<float2, 3> many(float x)"));
    EXPECT_THAT(header, Not(HasSubstr("__activemask"))) << "a kernel by hand may call it from any lanes";
}

TEST_F(DeviceHeaderTest, LanesAreRefusedByFunction) {
    const std::string refused = header_of(
        "float of_all(float x) { return WaveActiveSum(x); }\nfloat fine(float* x) "
        "{ InterlockedAdd(x[0], 1); return x[0]; }",
        R"({"function": "of_all", "args": {"x": "value"}},
{"function": "fine", "args": {"x": "pointer"}})");
    EXPECT_THAT(refused, HasSubstr("'of_all'"));
    EXPECT_THAT(refused, Not(HasSubstr("'fine'")));
}

TEST_F(DeviceHeaderTest, CodeThatTheHeaderHasNothingForIsRefusedByFunction) {
    const std::string refused = header_of(
        "float inner(float x) { return float(max(int8_t(x), int8_t(3))); }\nfloat fine(float x) { return x; "
        "}",
        R"({"function": "fine", "args": {"x": "value"}}, {"function": "inner", "args": {"x": "value"}})");
    EXPECT_THAT(refused, HasSubstr("CUDA doesn't take the code that Slang makes of 'inner'"));
    EXPECT_THAT(refused, HasSubstr("device-header-code"));
    EXPECT_THAT(refused, Not(HasSubstr("'fine'")));
}

TEST_F(DeviceHeaderTest, OverloadsThatMeetInCppAreRefused) {
    const std::string refused =
        header_of("enum Color { red, green }\nfloat f(int x) { return x; }\nfloat f(Color c) { return 2; }",
                  R"({"function": "f", "args": {"x": "value"}},
{"function": "f", "args": {"c": "value"}})");
    EXPECT_THAT(refused, HasSubstr("another function 'f' takes the same types in C++"));
    // A function that is called twice stays one.
    EXPECT_THAT(header_of("float f(float x) { return x; }",
                          R"({"function": "f", "args": {"x": "value"}},
{"function": "f", "args": {"x": "tensor[1]"}})"),
                HasSubstr("__device__ inline float f(float x)"));
}

TEST_F(DeviceHeaderTest, NamesThatMeetInCppAreRefused) {
    const std::string refused = header_of(
        "namespace a { struct S { float x; }; } namespace b { struct S { float y; }; }\n"
        "float first(a.S s) { return s.x; }\nfloat second(b.S s) { return s.y; }\n"
        "float third(float x) { return x; }\nfloat fourth(float x) { return 2 * x; }",
        R"({"function": "first", "args": {"s": "value"}}, {"function": "second", "args": {"s": "value"}},
{"function": "third", "args": {"x": "value"}},
{"function": "fourth", "name": "third", "args": {"x": "tensor[1]"}})");
    EXPECT_THAT(refused, HasSubstr("it takes 'b.S', and another one 'a.S', which have one name in C++"));
    EXPECT_THAT(refused, HasSubstr("another function 'third' takes the same types in C++"));
    EXPECT_THAT(
        header_of("struct Buffer { float x; }\nfloat f(StructuredBuffer<Buffer> b) { return b[0].x; }",
                  R"({"function": "f", "args": {"b": "buffer"}})"),
        HasSubstr("which have one name in C++"));
}

}  // namespace
}  // namespace kf::gen
