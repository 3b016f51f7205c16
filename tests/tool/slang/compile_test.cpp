// Kernels compiled by the real Slang, for both targets.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// What a shell command printed, and "exit N" when it failed.
std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (pipe != nullptr && fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
        text += buffer.data();
    }
    const int status = pipe != nullptr ? pclose(pipe) : -1;
    return status == 0 ? text : text + "exit " + std::to_string(status);
}

// Empty when the module is valid; older validators know no Slang, hence the patched OpSource.
std::string validate(const std::string& code) {
    const ScratchFolder folder;
    const auto file = folder.write("kernel.spv", code);
    return output_of("spirv-val --target-env vulkan1.3 --scalar-block-layout " + file.string());
}

std::string disassemble(const std::string& code) {
    const ScratchFolder folder;
    return output_of("spirv-dis --no-color " + folder.write("kernel.spv", code).string());
}

const std::string args_text =
    "struct Inner { float3 a; float b; }\n"
    "struct Args { float* x; float a; float3 b; bool f; half3 h; Inner i; int8_t q; float3 arr[2]; double "
    "d;\n"
    "  float2x3 m; int8_t last; }\n";

KernelSource kernel(const std::string& text, const std::string& parameter, const std::string& body) {
    return {"kern",
            text +
                "[shader(\"compute\")] [numthreads(64, 1, 1)]\nvoid kern(uint3 t : SV_DispatchThreadID, "
                "uniform " +
                parameter + " args) {\n" + body + "\n}\n",
            {"/spec.kf.json", 7, 3}};
}

const std::string args_body =
    "args.x[t.x] = args.a + args.b.y + (args.f ? 1 : 0) + args.h.z + args.i.b + args.q + args.arr[1].z + "
    "float(args.d)"
    " + args.m[1][2] + args.last;";

CompiledKernel compile(const KernelSource& source, CodeTarget target) {
    const auto compiler = make_compiler();
    Outcome<CompiledKernel> compiled = compiler->compile(source, target);
    if (!compiled) {
        ADD_FAILURE() << describe(compiled.errors());
        return {};
    }
    return std::move(compiled.value());
}

/// The block's own fields, without those of the structs in it.
std::vector<FieldLayout> outer_fields(const CompiledKernel& kernel) {
    std::vector<FieldLayout> fields = kernel.block;
    std::erase_if(fields, [](const FieldLayout& field) { return field.name.find('.') != std::string::npos; });
    return fields;
}

std::vector<std::string> layout_of(const CompiledKernel& kernel) {
    std::vector<std::string> fields;
    for (const FieldLayout& field : outer_fields(kernel)) {
        fields.push_back(field.name + "@" + std::to_string(field.offset) + "+" + std::to_string(field.size));
    }
    return fields;
}

// The offsets that the SPIR-V itself decorates a struct with, in order.
std::vector<std::string> decorated_offsets(const std::string& assembly, const std::string& type) {
    std::vector<std::string> offsets;
    std::istringstream lines(assembly);
    for (std::string line; std::getline(lines, line);) {
        const std::string head = "OpMemberDecorate %" + type + " ";
        const std::size_t offset = line.find(" Offset ");
        if (line.find(head) != std::string::npos && offset != std::string::npos) {
            offsets.push_back(line.substr(offset + 8));
        }
    }
    return offsets;
}

std::vector<std::string> reflected_offsets(const CompiledKernel& kernel) {
    std::vector<std::string> offsets;
    for (const FieldLayout& field : outer_fields(kernel)) {
        offsets.push_back(std::to_string(field.offset));
    }
    return offsets;
}

TEST(Compile, PushConstants) {
    const CompiledKernel compiled = compile(kernel(args_text, "Args", args_body), CodeTarget::spirv);
    EXPECT_THAT(layout_of(compiled), ElementsAre("x@0+8", "a@8+4", "b@16+12", "f@28+4", "h@32+6", "i@48+16",
                                                 "q@64+1", "arr@80+32", "d@112+8", "m@128+32", "last@160+1"));
    EXPECT_EQ(compiled.block_size, 176);
    EXPECT_EQ(validate(compiled.code), "");
    const std::string assembly = disassemble(compiled.code);
    EXPECT_THAT(assembly, testing::ContainsRegex("OpVariable %[^ ]+ PushConstant"));
    EXPECT_THAT(assembly, HasSubstr("OpEntryPoint GLCompute %kern \"kern\""));
    EXPECT_THAT(assembly, HasSubstr("OpSource Unknown"));
    EXPECT_THAT(assembly, Not(HasSubstr("OpString")));
    EXPECT_THAT(assembly, Not(HasSubstr("OpLine")));
    EXPECT_EQ(decorated_offsets(assembly, "Args_std430"), reflected_offsets(compiled));
}

TEST(Compile, FieldsOfStructsAreListedBehindThem) {
    const std::string text =
        "struct Inner { int64_t n; uint k; };\nstruct Outer { float a; Inner inner; };\n"
        "struct Args { float* x; Outer outer; float b; }\n";
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const CompiledKernel compiled = compile(
            kernel(text, "Args", "args.x[t.x] = args.outer.a + args.outer.inner.k + args.b;"), target);
        std::vector<std::string> places;
        for (const FieldLayout& field : compiled.block)
            places.push_back(field.name + "@" + std::to_string(field.offset));
        EXPECT_THAT(places, ElementsAre("x@0", "outer@8", "outer.a@8", "outer.inner@16", "outer.inner.n@16",
                                        "outer.inner.k@24", "b@32"));
    }
}

class BlockInMemory : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Compile, BlockInMemory,
                         testing::Values("Args*", "ConstantBuffer<Args, ScalarDataLayout>"));

TEST_P(BlockInMemory, IsPackedLikeOnTheHost) {
    const CompiledKernel compiled = compile(kernel(args_text, GetParam(), args_body), CodeTarget::spirv);
    EXPECT_THAT(layout_of(compiled), ElementsAre("x@0+8", "a@8+4", "b@12+12", "f@24+4", "h@28+6", "i@36+16",
                                                 "q@52+1", "arr@56+24", "d@80+8", "m@88+24", "last@112+1"));
    EXPECT_EQ(compiled.block_size, 120);
    EXPECT_EQ(validate(compiled.code), "");
    EXPECT_EQ(decorated_offsets(disassemble(compiled.code), "Args_natural"), reflected_offsets(compiled));
}

TEST(Compile, CudaSource) {
    const CompiledKernel compiled = compile(kernel(args_text, "Args", args_body), CodeTarget::cuda_source);
    EXPECT_THAT(compiled.code, HasSubstr("extern \"C\" __global__ void"));
    EXPECT_THAT(compiled.code, HasSubstr(" kern("));
    EXPECT_THAT(compiled.code, Not(HasSubstr("#line")));
    EXPECT_THAT(compiled.features, testing::IsEmpty());
    EXPECT_THAT(layout_of(compiled), ElementsAre("x@0+8", "a@8+4", "b@12+12", "f@24+1", "h@28+8", "i@36+16",
                                                 "q@52+1", "arr@56+24", "d@80+8", "m@88+24", "last@112+1"));
    EXPECT_EQ(compiled.block_size, 120);
}

TEST(Compile, CudaBlockByAddressIsAPlainStruct) {
    const CompiledKernel by_value = compile(kernel(args_text, "Args", args_body), CodeTarget::cuda_source);
    const CompiledKernel by_address = compile(kernel(args_text, "Args*", args_body), CodeTarget::cuda_source);
    EXPECT_EQ(layout_of(by_address), layout_of(by_value));
    EXPECT_EQ(by_address.block_size, by_value.block_size);
}

TEST(Compile, Features) {
    const auto features = [](const std::string& fields, const std::string& body) {
        return compile(kernel("struct Args { float* x; " + fields + " }\n", "Args", body), CodeTarget::spirv)
            .features;
    };
    EXPECT_THAT(features("", "args.x[t.x] = 1;"), ElementsAre("buffer_device_address", "scalar_layout"));
    EXPECT_THAT(features("int64_t n;", "args.x[t.x] = float(args.n + 1);"),
                ElementsAre("buffer_device_address", "int64", "scalar_layout"));
    EXPECT_THAT(features("half* h;", "args.x[t.x] = args.h[t.x] + 1;"), testing::Contains("float16"));
    EXPECT_THAT(features("uint8_t* h;", "args.x[t.x] = args.h[t.x];"), testing::Contains("int8"));
    EXPECT_THAT(features("int16_t* h;", "args.x[t.x] = args.h[t.x];"), testing::Contains("int16"));
    EXPECT_THAT(features("double* h;", "args.x[t.x] = float(args.h[t.x]);"), testing::Contains("float64"));
    EXPECT_THAT(features("", "InterlockedAdd(args.x[0], WaveActiveSum(1.f));"),
                testing::IsSupersetOf({"float32_atomic_add", "subgroup_arithmetic"}));
    EXPECT_THAT(features("double* h;", "__atomic_add(args.h[0], 1.0);"),
                testing::Contains("float64_atomic_add"));
    EXPECT_THAT(features("int64_t* h;", "__atomic_add(args.h[0], 1ll);"), testing::Contains("int64_atomics"));
    EXPECT_THAT(features("", "args.x[t.x] = WaveReadLaneAt(float(t.x), 1);"),
                testing::Contains("subgroup_shuffle"));
}

TEST(Compile, EveryScalarThroughAPointerIsValid) {
    const auto compiler = make_compiler();
    for (const std::string scalar : {"int8_t", "int16_t", "int", "int64_t", "uint8_t", "uint16_t", "uint",
                                     "uint64_t", "half", "float", "double"}) {
        for (const std::string width : {"", "2", "3", "4"}) {
            SCOPED_TRACE(scalar + width);
            const std::string type = scalar + width;
            const auto compiled = compiler->compile(
                kernel("struct Args { " + type + "* x; " + type + "* y; " + type + " v; }\n", "Args",
                       "args.y[t.x] = args.x[t.x] + args.v;"),
                CodeTarget::spirv);
            ASSERT_TRUE(compiled.ok()) << describe(compiled.errors());
            EXPECT_EQ(validate(compiled.value().code), "");
        }
    }
}

TEST(Compile, ImportsTheUsersModules) {
    const ScratchFolder folder;
    CompilerOptions options;
    options.modules = {
        folder.write("poly.slang",
                     "import kf;\n[Differentiable] float poly(float a, float x) { return a * x * x; }\n"
                     "[Differentiable] half poly(half a, half x) { return a; }\n"
                     "namespace ns { float twice(float x) { return kf_two() * x; } }\n")};
    const auto compiler = make_compiler(options, {{"kf", "public float kf_two() { return 2; }\n"}});
    const KernelSource source =
        kernel("import kf; import poly;\nstruct Args { float* x; }\n", "Args",
               "var a = diffPair(args.x[0]); var x = diffPair(args.x[1]);\n"
               "bwd_diff(poly)(a, x, 1.f);\nargs.x[2] = a.d + ns.twice(x.d) + kf_two();");
    // Without a reflect() before, as in a worker that only compiles.
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const Outcome<CompiledKernel> compiled = compiler->compile(source, target);
        ASSERT_TRUE(compiled.ok()) << describe(compiled.errors());
        EXPECT_THAT(compiled.value().code, Not(HasSubstr(folder.path().string())));
    }
    ASSERT_TRUE(compiler->reflect(options.modules).ok());
    EXPECT_TRUE(compiler->compile(source, CodeTarget::spirv).ok());
}

TEST(Compile, TypesThatOnlyTheUsersModuleImports) {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder.path() / "parts");
    (void)folder.write("parts/ray-types.slang",
                       "public struct Ray { public float at; public float step; }\n");
    CompilerOptions options;
    options.modules = {folder.write("user.slang",
                                    "import \"parts/ray-types\";\n"
                                    "float along(Ray ray, float t) { return ray.at + ray.step * t; }\n")};
    const auto compiler = make_compiler(options);
    const auto source = [](const std::string& type) {
        return kernel("import user;\nstruct Args { float* x; }\n", "Args",
                      type + " ray = { 1, 2 };\nargs.x[0] = along(ray, args.x[1]);");
    };
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const Outcome<CompiledKernel> compiled = compiler->compile(source("Ray"), target);
        EXPECT_TRUE(compiled.ok()) << (compiled ? "" : describe(compiled.errors()));
        const Outcome<CompiledKernel> unknown = compiler->compile(source("Beam"), target);
        ASSERT_FALSE(unknown.ok());
        EXPECT_EQ(unknown.errors().front().id, "slang-E30015") << describe(unknown.errors());
    }
}

TEST(Compile, TheSameBytesFromAnyFolderInAnyOrder) {
    const std::string text = "float poly(float a, float x) { return a * x * x; }\n";
    const KernelSource source =
        kernel("import poly;\nstruct Args { float* x; }\n", "Args", "args.x[0] = poly(2, 3);");
    const KernelSource other =
        kernel("import poly;\nstruct Args { float* x; }\n", "Args", "args.x[1] = poly(1, 3);");
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        std::vector<std::string> codes;
        for (int round = 0; round < 2; ++round) {
            const ScratchFolder folder;
            const auto compiler = make_compiler();
            ASSERT_TRUE(compiler->reflect({folder.write("poly.slang", text)}).ok());
            if (round == 1) {
                ASSERT_TRUE(compiler->compile(other, target).ok());
            }
            const Outcome<CompiledKernel> compiled = compiler->compile(source, target);
            ASSERT_TRUE(compiled.ok()) << describe(compiled.errors());
            codes.push_back(compiled.value().code);
        }
        EXPECT_TRUE(codes[0] == codes[1]);
    }
}

// The session is replaced underway; the modules must be there again.
TEST(Compile, ManyKernels) {
    const ScratchFolder folder;
    const auto compiler = make_compiler();
    ASSERT_TRUE(compiler->reflect({folder.write("one.slang", "float one() { return 1; }\n")}).ok());
    for (int number = 0; number < 70; ++number) {
        const auto compiled = compiler->compile(kernel("import one;\nstruct Args { float* x; }\n", "Args",
                                                       "args.x[0] = one() + " + std::to_string(number) + ";"),
                                                CodeTarget::spirv);
        ASSERT_TRUE(compiled.ok()) << describe(compiled.errors());
    }
}

TEST(Compile, VersionNeedsNoSession) {
    EXPECT_THAT(make_compiler()->version(), testing::MatchesRegex("v?[0-9]+\\.[0-9].*"));
}

TEST(Compile, SupportModulesAreLoadedBeforeModules) {
    const ScratchFolder folder;
    const auto module = folder.write("two.slang", "import kf_base;\nfloat f() { return kf_two(); }\n");
    const Outcome<Module> found =
        make_compiler({}, {{"kf_base", "public float kf_two() { return 2; }\n"}})->reflect({module});
    EXPECT_TRUE(found.ok()) << describe(found.errors());
    const Outcome<Module> wrong =
        make_compiler({}, {{"kf_base", "public float kf_two() { return nothing; }\n"}})->reflect({module});
    ASSERT_FALSE(wrong.ok());
    EXPECT_THAT(describe(wrong.errors()), testing::HasSubstr("nothing"));
}

// Sessions of other targets and other compilers read later than the one that reflected.
TEST(Compile, EditsAfterReflectionChangeNothing) {
    const ScratchFolder folder;
    const auto write = [&](const std::string& factor) {
        (void)folder.write("part.slang", "public float part(float x) { return x * " + factor + "; }\n");
        (void)folder.write("factor.h", "#define FACTOR " + factor + "\n");
        return folder.write("user.slang", "import part;\n#include \"factor.h\"\nfloat f(float x) { return " +
                                              factor + " * FACTOR * part(x); }\n");
    };
    const KernelSource source =
        kernel("import user;\nstruct Args { float* x; }\n", "Args", "args.x[t.x] = f(args.x[t.x]);");
    const auto codes = [&](bool edited) {
        std::vector<std::string> found;
        const auto first = make_compiler();
        const auto module = first->reflect({write("2.0")});
        EXPECT_TRUE(module.ok()) << describe(module.errors());
        CompilerOptions options;
        options.modules = {write(edited ? "3.0" : "2.0")};
        options.sources = module.value().sources;
        const auto second = make_compiler(options);
        for (Compiler* compiler : {first.get(), second.get()}) {
            for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
                const auto compiled = compiler->compile(source, target);
                EXPECT_TRUE(compiled.ok()) << describe(compiled.errors());
                if (compiled) found.push_back(compiled.value().code);
            }
        }
        return found;
    };
    EXPECT_EQ(codes(true), codes(false));
}

// What scalar_renames.h inserts is right wherever names are declared again.
TEST(Compile, DifferentiableFunctionsThatDeclareTheirParametersAgain) {
    const std::string begin = "[Differentiable] float3 f(float a, float3 b)\n{\n";
    const std::string loop = "[MaxIters(3)] for (int i = 0; i < 3; i++) ";
    const auto compiler = make_compiler();
    for (const std::string& body :
         {std::string("float3 r = a * b; if (b.x > 0) { float3 a = b; r += a; } return r;"),
          std::string("float3 r = a * b; float c = 2, a = 3; return r * a + c;"),
          std::string("vector<float, 3> a = b; return a * 2;"),
          "float3 s = b; " + loop + "s = { s.x * a, s.y, s.z }; return s;",
          "float t = a; float3 s = b; { let t = b * 2; " + loop + "s += t; } return s * t;",
          "float w; w = 0; " + loop + "w += a * a; return b / w;",
          "float c, s; sincos(a, s, c); float3 r = b; " + loop + "{ r *= s; c += a; } return r * c;",
          std::string(
              "float c = 1; float3 r = b; r += b, c += a; { float3 d = b, c = b; r += c * d; } return r;")}) {
        const auto compiled =
            compiler->compile(kernel(begin + body + "\n}\nstruct Args { float* x; }\n", "Args",
                                     "var a = diffPair(args.x[0]); var b = diffPair(float3(args.x[1]));\n"
                                     "bwd_diff(f)(a, b, float3(1)); args.x[2] = a.d;"),
                              CodeTarget::spirv);
        EXPECT_TRUE(compiled.ok()) << body << describe(compiled.errors());
        EXPECT_EQ(compiled ? validate(compiled.value().code) : "", "") << body;
    }
}

// A fused multiply-add would make a device's random floats its own.
TEST(Compile, RandomFloatsAreRoundedTwice) {
    const auto compiler = make_compiler({}, support_modules());
    const auto compiled =
        compiler->compile(kernel("import kf_kernel;\nstruct Args { float* x; }\n", "Args",
                                 "args.x[0] = kf.take_floats<1>(t.x, args.x[1], args.x[2], 1).x;"),
                          CodeTarget::spirv);
    ASSERT_TRUE(compiled.ok()) << describe(compiled.errors());
    const std::string assembly = disassemble(compiled.value().code);
    EXPECT_THAT(assembly, testing::ContainsRegex("OpDecorate %[a-z0-9_]+ NoContraction"));
    EXPECT_THAT(assembly, HasSubstr("OpFMul"));
}

}  // namespace
}  // namespace kf::gen
