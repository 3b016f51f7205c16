// Joining CUDA sources, on sources by hand.
#include "cuda/unit.h"

#include <gmock/gmock.h>

#include "slang/compiler.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CudaKernelSource kernel(const std::string& name, const std::string& body = {}) {
    return {name,
            "#define PRELUDE 1\n" + std::string(cuda_prelude_end) + "struct Args_0 { int n; };\n" + body +
                "extern \"C\" __global__ void " + name + "(Args_0 args) {}\n",
            {"m.kf.json", 5, 7},
            0,
            0,
            {}};
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST(JoinCudaSources, HasThePreludeOnceAndEachKernelInANamespace) {
    const auto unit = join_cuda_sources({kernel("f"), kernel("g"), kernel("h")});
    ASSERT_TRUE(unit);
    const std::string& text = unit.value().text;
    EXPECT_EQ(count(text, "#define PRELUDE 1"), 1u);
    EXPECT_EQ(text.find("#define PRELUDE 1"), 0u);
    EXPECT_EQ(count(text, "struct Args_0"), 3u);
    for (const char* part :
         {"namespace kf_kernel_0\n{", "namespace kf_kernel_1\n{", "namespace kf_kernel_2\n{"}) {
        EXPECT_EQ(count(text, part), 1u) << part;
    }
    EXPECT_THAT(text, Not(HasSubstr(std::string(cuda_prelude_end))));
}

TEST(JoinCudaSources, MakesEntryPointsUnique) {
    const auto unit = join_cuda_sources({kernel("f"), kernel("f"), kernel("g")});
    ASSERT_TRUE(unit);
    EXPECT_THAT(unit.value().entry_points, ElementsAre("f_0", "f_1", "g_2"));
    for (const std::string& name : unit.value().entry_points) {
        EXPECT_EQ(count(unit.value().text, "__global__ void " + name + "("), 1u) << name;
    }
}

TEST(JoinCudaSources, IncludesInNoNamespace) {
    const std::string tiled = "#define TILE 32\n#include <mma.h>\nint one;\n";
    const std::string hosts = "#ifndef DEVICE\n  # include <host.h>\n#endif\n";
    const auto unit =
        join_cuda_sources({kernel("f", tiled + hosts),
                           kernel("g", "#include <mma.h>\n#include \"by_hand.cuh\"\nint two;\n" + hosts)});
    ASSERT_TRUE(unit);
    const auto outside = [](const std::string& include, const std::string& kernel, int line) {
        const std::string place = "#line " + std::to_string(line) + " \"" + kernel + "\"\n";
        return "}\n" + place + include + "\n" + place + "namespace " + kernel + " {\n";
    };
    const std::string start = "struct Args_0 { int n; };\n";
    const std::string& text = unit.value().text;
    EXPECT_THAT(text, HasSubstr(start + "#define TILE 32\n" + outside("#include <mma.h>", "kf_kernel_0", 5) +
                                "int one;\n#ifndef DEVICE\n" +
                                outside("  # include <host.h>", "kf_kernel_0", 8) + "#endif\n"));
    EXPECT_THAT(text, HasSubstr(start + "\n" + outside("#include \"by_hand.cuh\"", "kf_kernel_1", 5) +
                                "int two;\n#ifndef DEVICE\n" +
                                outside("  # include <host.h>", "kf_kernel_1", 8) + "#endif\n"));
    EXPECT_EQ(count(text, "#include <mma.h>"), 1u);
}

CudaKernelSource bounded(const std::string& name) {
    CudaKernelSource source = kernel(name);
    source.threads = 256;
    source.resident_groups = 3;
    return source;
}

TEST(JoinCudaSources, BoundsTheRegistersOfKernelsThatWantIt) {
    const CudaUnit unit = join_cuda_sources({kernel("f"), bounded("g"), bounded("h")}).value();
    EXPECT_THAT(unit.text, HasSubstr("__global__ void f_0("));
    EXPECT_THAT(unit.text, HasSubstr("__global__ void __launch_bounds__(kf_bounds_1) g_1("));
    EXPECT_THAT(unit.text, HasSubstr("__global__ void __launch_bounds__(kf_bounds_2) h_2("));
    EXPECT_THAT(define_bounds(unit, {}), ElementsAre("kf_bounds_1=256,3", "kf_bounds_2=256,3"));
    EXPECT_THAT(define_bounds(unit, {2}), ElementsAre("kf_bounds_1=256,3", "kf_bounds_2=256"));
}

TEST(SpillingKernels, AreTheBoundedOnesThatKeepMuchInMemory) {
    const CudaUnit unit = join_cuda_sources({kernel("f"), bounded("g"), bounded("h"), bounded("i")}).value();
    const auto said = [](const std::string& name, int bytes) {
        return "ptxas info    : Compiling entry function '" + name +
               "' for 'sm_90'\nptxas info    : " + "Function properties for " + name +
               "\nptxas         .     400 bytes stack frame, " + std::to_string(bytes) +
               " bytes spill stores, 500 bytes spill loads\n" + "ptxas info    : Used 80 registers\n";
    };
    const std::string log = said("f_0", 100) + said("g_1", 100) + said("h_2", 16);
    EXPECT_THAT(spilling_kernels(unit, log), ElementsAre(1u));
    EXPECT_THAT(spilling_kernels(unit, ""), IsEmpty());
}

TEST(JoinCudaSources, RenamesWholeWordsOnly) {
    const auto unit = join_cuda_sources({kernel("f", "int f_1, xf, ff, f2; // (f)f.f\n")});
    ASSERT_TRUE(unit);
    EXPECT_THAT(unit.value().text, HasSubstr("int f_1, xf, ff, f2; // (f_0)f_0.f_0\n"));
}

TEST(JoinCudaSources, DefinesWhatThePreludeNeedsForTheTypesUsed) {
    EXPECT_THAT(join_cuda_sources({kernel("f")}).value().defines, IsEmpty());
    EXPECT_THAT(join_cuda_sources({kernel("f"), kernel("g", "__half h;\n")}).value().defines,
                ElementsAre("SLANG_CUDA_ENABLE_HALF=1"));
    EXPECT_THAT(join_cuda_sources({kernel("f", "__nv_bfloat16 b; __half h;\n")}).value().defines,
                ElementsAre("SLANG_CUDA_ENABLE_HALF=1", "SLANG_CUDA_ENABLE_BF16=1"));
}

TEST(JoinCudaSources, RefusesAnUnexpectedForm) {
    CudaKernelSource no_mark = kernel("f");
    no_mark.text.erase(no_mark.text.find(cuda_prelude_end), cuda_prelude_end.size());
    CudaKernelSource no_entry_point = kernel("f");
    no_entry_point.entry_point = "other";
    for (const CudaKernelSource& source : {no_mark, no_entry_point}) {
        const auto unit = join_cuda_sources({kernel("g"), source});
        ASSERT_FALSE(unit);
        EXPECT_EQ(unit.errors()[0].id, "internal-cuda-source");
        EXPECT_EQ(unit.errors()[0].location, source.origin);
        EXPECT_THAT(unit.errors()[0].message, HasSubstr("'" + source.entry_point + "'"));
    }
}

TEST(KernelOfLogLine, KnowsTheUnitsOwnNames) {
    const CudaUnit unit = join_cuda_sources({kernel("f"), kernel("g")}).value();
    EXPECT_THAT(unit.text, HasSubstr("#line 1 \"kf_kernel_1\"\nnamespace kf_kernel_1\n"));
    EXPECT_EQ(kernel_of_log_line(unit, "kf_kernel_1(12): error: no"), 1u);
    EXPECT_EQ(kernel_of_log_line(unit, "kf_kernel_0(1): error: kf_kernel_1"), 0u);
    EXPECT_EQ(kernel_of_log_line(unit, "ptxas error   : Entry function 'g_1' uses too much"), 1u);
    for (const char* line : {"kf_kernel_2(1): error: no", "kf_kernel_(1)", "kf_kernel_1",
                             "kernels.cu(3): error: no", "  f_0(x);", ""}) {
        EXPECT_EQ(kernel_of_log_line(unit, line), std::nullopt) << line;
    }
}

TEST(CapPtxVersion, LowersOnlyWhatIsHigher) {
    struct Case {
        std::string ptx;
        int major, minor;
        std::string result;
    };
    const Case cases[] = {
        {"// c\n.version 9.0\n.target sm_90\n", 8, 5, "// c\n.version 8.5\n.target sm_90\n"},
        {".version 9.0\n", 9, 0, ".version 9.0\n"},
        {".version 9.0\n", 9, 1, ".version 9.0\n"},
        {".version 9.0\n", 10, 0, ".version 9.0\n"},
        {".version 8.7\n", 8, 3, ".version 8.3\n"},
        {".version 10.2\n", 9, 3, ".version 9.3\n"},
        {".version 9.12\n", 9, 3, ".version 9.3\n"},
        {".version 9.3\n", 9, 12, ".version 9.3\n"},
        {"// .version in words\n", 8, 0, "// .version in words\n"},
        {".version 9", 8, 0, ".version 9"},
        {".version ", 8, 0, ".version "},
        {"", 8, 0, ""},
    };
    for (const Case& c : cases) EXPECT_EQ(cap_ptx_version(c.ptx, c.major, c.minor), c.result) << c.ptx;
}

}  // namespace
}  // namespace kf::gen
