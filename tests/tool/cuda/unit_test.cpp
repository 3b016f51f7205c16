// What NVRTC is given, of sources by hand.
#include "cuda/unit.h"

#include <gmock/gmock.h>

#include "slang/compiler.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;

CudaKernelSource kernel(const std::string& name, const std::string& body = {}) {
    return {name,
            "#define PRELUDE 1\n" + std::string(cuda_prelude_end) + "struct Args_0 { int n; };\n" + body +
                "extern \"C\" __global__ void " + name + "(Args_0 args) {}\n",
            {"m.kf.json", 5, 7},
            0,
            0,
            {}};
}

TEST(CudaUnit, IsTheKernelBehindItsPrelude) {
    const CudaKernelSource source = kernel("f", "#include <mma.h>\n");
    const auto unit = cuda_unit(source);
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit.value().prelude, "#define PRELUDE 1\n");
    EXPECT_EQ(
        unit.value().bounded,
        "struct Args_0 { int n; };\n#include <mma.h>\nextern \"C\" __global__ void f(Args_0 args) {}\n");
    EXPECT_EQ(unit.value().unbounded, "");
    EXPECT_EQ(unit.value().entry_point, "f");
}

TEST(CudaUnit, EntryPointsEndWithTheirInterface) {
    CudaKernelSource source = kernel("f", "int f_1, xf, ff, f2; // (f)f.f\n");
    source.interface = "0123";
    const auto unit = cuda_unit(source);
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit.value().entry_point, "f_0123");
    EXPECT_THAT(unit.value().bounded, HasSubstr("int f_1, xf, ff, f2; // (f_0123)f_0123.f_0123\n"));
    EXPECT_THAT(unit.value().bounded, HasSubstr("__global__ void f_0123("));
}

TEST(CudaUnit, BoundsTheRegistersOfKernelsThatWantIt) {
    CudaKernelSource source = kernel("g");
    source.threads = 256;
    EXPECT_THAT(cuda_unit(source).value().bounded, HasSubstr("__global__ void g("));
    source.resident_groups = 3;
    const CudaUnit unit = cuda_unit(source).value();
    EXPECT_THAT(unit.bounded, HasSubstr("__global__ void __launch_bounds__(256, 3) g("));
    EXPECT_THAT(unit.unbounded, HasSubstr("__global__ void __launch_bounds__(256) g("));
}

TEST(CudaUnit, DefinesWhatThePreludeNeeds) {
    const CudaKernelSource none = kernel("f");
    const CudaKernelSource half = kernel("g", "__half h;\n");
    const CudaKernelSource both = kernel("h", "__nv_bfloat16 b; __half h;\n");
    const CudaKernelSource checked = kernel("i", "uint unit = kf_wrong_index.unit;\n");
    EXPECT_EQ(cuda_unit(none).value().defines, "");
    EXPECT_EQ(cuda_unit(checked).value().defines, "#define KF_CHECKS_BUFFERS 1\n");
    EXPECT_EQ(cuda_unit(half).value().defines, "#define SLANG_CUDA_ENABLE_HALF 1\n");
    EXPECT_EQ(cuda_unit(both).value().defines,
              "#define SLANG_CUDA_ENABLE_HALF 1\n#define SLANG_CUDA_ENABLE_BF16 1\n");
}

TEST(CudaUnit, RefusesAnUnexpectedForm) {
    CudaKernelSource no_mark = kernel("f");
    no_mark.text.erase(no_mark.text.find(cuda_prelude_end), cuda_prelude_end.size());
    CudaKernelSource no_entry_point = kernel("f");
    no_entry_point.entry_point = "other";
    for (const CudaKernelSource& source : {no_mark, no_entry_point}) {
        const auto unit = cuda_unit(source);
        ASSERT_FALSE(unit);
        EXPECT_EQ(unit.errors()[0].id, "internal-cuda-source");
        EXPECT_EQ(unit.errors()[0].location, source.origin);
        EXPECT_THAT(unit.errors()[0].message, HasSubstr("'" + source.entry_point + "'"));
    }
}

TEST(IsAboutKernel, TellsTheKernelFromWhatItIncludes) {
    const CudaKernelSource source = kernel("f");
    const CudaUnit unit = cuda_unit(source).value();
    EXPECT_TRUE(is_about_kernel(unit, "kernel.cu(12): error: no"));
    EXPECT_TRUE(is_about_kernel(unit, "ptxas error   : Entry function 'f' uses too much"));
    for (const char* line : {"kf_prelude.h(1): error: no", "by_hand.cuh(3): error: no", "  f(x);", ""})
        EXPECT_FALSE(is_about_kernel(unit, line)) << line;
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
