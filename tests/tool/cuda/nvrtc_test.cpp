// The real NVRTC, from its wheel. No toolkit is looked for, so a machine without one passes too.
#include "cuda/nvrtc.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>

#include "cuda/isolated_compiler.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

constexpr const char* add_half = R"(
#include <cuda_fp16.h>
extern "C" __global__ void add(__half* a, const __half* b) { a[threadIdx.x] = __hadd(a[threadIdx.x], b[threadIdx.x]); }
)";

/// A folder of its own, removed at the end.
class NvrtcTest : public testing::Test {
protected:
    NvrtcTest() {
        std::string pattern = (fs::temp_directory_path() / "kf-nvrtc-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~NvrtcTest() override { fs::remove_all(folder_); }

    static std::shared_ptr<const CudaCompiler> wheel() {
        const auto nvrtc = open_nvrtc(wheel_cuda_search(KF_SITE_PACKAGES));
        if (!nvrtc) {
            ADD_FAILURE() << "no NVRTC in " KF_SITE_PACKAGES ": install tests/requirements.txt";
            return nullptr;
        }
        return nvrtc.value();
    }

    fs::path folder_;
};

TEST_F(NvrtcTest, ComesFromTheWheelAlone) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    EXPECT_EQ(nvrtc->version(), "13.0");
    EXPECT_THAT(nvrtc->build(), HasSubstr("release 13.0, V13.0."));
    ASSERT_EQ(nvrtc->files().size(), 2u) << "itself and its built-ins";
    for (const fs::path& file : nvrtc->files()) {
        EXPECT_THAT(fs::canonical(file).string(), StartsWith(fs::canonical(KF_SITE_PACKAGES).string()));
    }
    EXPECT_THAT(nvrtc->architectures(), IsSupersetOf({"sm_80", "sm_90", "sm_100"}));
    const auto known = nvrtc->architectures();
    EXPECT_LT(std::find(known.begin(), known.end(), "sm_90"),
              std::find(known.begin(), known.end(), "sm_100"));
}

TEST_F(NvrtcTest, CompilesToElfAndPtxWithTheWheelsHeaders) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    const auto code = nvrtc->compile({"add", {}, add_half}, "sm_90");
    ASSERT_TRUE(code) << format_text(code.errors()[0]);
    EXPECT_THAT(code.value().cubin, StartsWith("\x7F"
                                               "ELF"));
    EXPECT_THAT(code.value().ptx, HasSubstr(".version 9.0\n.target sm_90\n"));
    EXPECT_THAT(code.value().ptx, HasSubstr(".entry add("));
    EXPECT_EQ(code.value().ptx.find('\0'), std::string::npos);
    const auto again = nvrtc->compile({"add", {}, add_half}, "sm_90");
    EXPECT_EQ(again.value().cubin, code.value().cubin) << "a function of its input";
}

TEST_F(NvrtcTest, HeadersAreInputsWithWhatTheyInclude) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    std::vector<std::string> names;
    for (const fs::path& header : nvrtc->headers(add_half)) {
        EXPECT_TRUE(fs::is_regular_file(header)) << header;
        names.push_back(header.filename().string());
    }
    EXPECT_THAT(names, IsSupersetOf({"cuda_fp16.h", "cuda_fp16.hpp", "vector_types.h"}));
    EXPECT_THAT(names, Not(Contains("cuda_bf16.h")));
    EXPECT_THAT(nvrtc->headers("  #  include <cuda_bf16.h>"), Contains(HasSubstr("cuda_bf16.hpp")));
    EXPECT_TRUE(nvrtc->headers("// #include <cuda_fp16.h>\n#include <none.h>\n#include").empty());
}

TEST_F(NvrtcTest, APreludeThatIsPrecompiledGivesTheSameCode) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    CudaProgram program{
        "f", "#define KF_NUMBER 4711\ntemplate <class T> __device__ T twice(T x) { return x + x; }\n",
        "#include <cuda_fp16.h>\nextern \"C\" __global__ void f(float* a) { *a = twice(*a) + KF_NUMBER; }\n"};
    const auto alone = nvrtc->compile(program, "sm_80");
    ASSERT_TRUE(alone) << format_text(alone.errors()[0]);
    EXPECT_THAT(alone.value().ptx, HasSubstr(".entry f("));
    const std::string file = (folder_ / "a.pch").string();
    ASSERT_TRUE(nvrtc->precompile(program.prelude, "sm_80", file));
    const auto with = nvrtc->compile(program, "sm_80", file);
    ASSERT_TRUE(with);
    EXPECT_THAT(with.value().log, HasSubstr("using precompiled header file"));
    EXPECT_TRUE(with.value().cubin == alone.value().cubin);
    EXPECT_EQ(with.value().ptx, alone.value().ptx);
    program.text += "error";
    const auto failed = nvrtc->compile(program, "sm_80", file);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.errors()[0].notes, Contains(StartsWith("kernel.cu(")));
    EXPECT_THAT(failed.errors()[0].notes, Not(Contains(HasSubstr("precompiled"))));
    EXPECT_FALSE(nvrtc->precompile("no C++", "sm_80", file));
    EXPECT_FALSE(nvrtc->precompile(program.prelude, "sm_80", (folder_ / "none" / "a.pch").string()));
}

TEST_F(NvrtcTest, AChildGivesTheSameCode) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    ::setenv("TMPDIR", folder_.c_str(), 1);
    const auto child = make_isolated(nvrtc, {}, true);
    ::unsetenv("TMPDIR");
    for (const char* prelude : {"", "#define KF_NUMBER 4711\n", "#define KF_NUMBER 4712\n"}) {
        const CudaProgram program{"f", prelude,
                                  "#ifndef KF_NUMBER\n#define KF_NUMBER 1\n#endif\n"
                                  "extern \"C\" __global__ void f(int* a) { *a = KF_NUMBER; }\n"};
        for (int round = 0; round < 2; ++round) {
            const auto code = child->compile(program, "sm_80");
            ASSERT_TRUE(code) << format_text(code.errors()[0]);
            EXPECT_TRUE(code.value().cubin == nvrtc->compile(program, "sm_80").value().cubin) << prelude;
        }
    }
    EXPECT_TRUE(fs::is_empty(folder_)) << "nothing is left there";
    const CudaProgram wrong{"f", "#define KF_NUMBER 1\n", "KF_NUMBER;"};
    EXPECT_EQ(child->compile(wrong, "sm_80").errors(), nvrtc->compile(wrong, "sm_80").errors());
    EXPECT_EQ(child->check("no C++", "sm_80"), nvrtc->check("no C++", "sm_80"));
}

TEST_F(NvrtcTest, ErrorsCarryTheLog) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    const auto failed = nvrtc->compile({"f", {}, "void f() {\n  missing();\n}\n"}, "sm_80");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.errors()[0].id, "cuda-compile");
    EXPECT_THAT(failed.errors()[0].message,
                HasSubstr("NVRTC 13.0 failed for sm_80: NVRTC_ERROR_COMPILATION"));
    EXPECT_THAT(failed.errors()[0].notes,
                Contains(HasSubstr("kernel.cu(2): error: identifier \"missing\" is undefined")));
    for (const std::string& line : failed.errors()[0].notes) {
        EXPECT_EQ(line.find_first_of(std::string("\n\0", 2)), std::string::npos);
    }
}

TEST_F(NvrtcTest, ChecksSourcesWithoutKernels) {
    const auto nvrtc = wheel();
    ASSERT_NE(nvrtc, nullptr);
    EXPECT_TRUE(nvrtc->check("__device__ inline float f(float x) { return x; }", "sm_90").empty());
    const Diagnostics errors = nvrtc->check("__device__ inline float f(float x) { return y; }", "sm_90");
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].id, "cuda-compile");
    EXPECT_THAT(errors[0].notes, testing::Contains(HasSubstr("\"y\" is undefined")));
}

TEST_F(NvrtcTest, SaysWhenOnlyTheHeadersAreMissing) {
    CudaSearch search = wheel_cuda_search(KF_SITE_PACKAGES);
    search.include_folders = {folder_};
    const auto nvrtc = open_nvrtc(search);
    ASSERT_TRUE(nvrtc);
    EXPECT_TRUE(nvrtc.value()->compile({"f", {}, "extern \"C\" __global__ void f() {}"}, "sm_80"));
    const auto failed = nvrtc.value()->compile({"add", {}, add_half}, "sm_80");
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("pip install nvidia-cuda-runtime")));
    const auto other = nvrtc.value()->compile({"none", {}, "no C++"}, "sm_80");
    EXPECT_THAT(other.errors()[0].notes, Not(Contains(HasSubstr("pip install"))));
}

TEST_F(NvrtcTest, MissingNamesWhatToInstall) {
    const CudaSearch nowhere{{folder_, folder_ / "none"}, {}, {"libkf-no-such-nvrtc.so"}};
    const auto failed = open_nvrtc(nowhere);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 1u);
    EXPECT_EQ(failed.errors()[0].id, "nvrtc-missing");
    ASSERT_EQ(failed.errors()[0].notes.size(), 1u);
    EXPECT_THAT(failed.errors()[0].notes[0], HasSubstr("CUDA_PATH"));
    EXPECT_THAT(failed.errors()[0].notes[0], HasSubstr("pip install nvidia-cuda-nvrtc nvidia-cuda-runtime"));
}

TEST_F(NvrtcTest, WhatIsNoNvrtcIsPassedOver) {
    std::ofstream(folder_ / "libnvrtc.so.13") << "no library";
    fs::create_directory(folder_ / "other");
    const fs::path real = fs::path(KF_SITE_PACKAGES) / "nvidia/cu13/lib";
    fs::create_symlink(real / "libnvrtc-builtins.so.13.0", folder_ / "other/libnvrtc.so.13");
    CudaSearch search{{folder_, folder_ / "other"}, {}, {}};
    EXPECT_FALSE(open_nvrtc(search));
    search.library_folders.push_back(real);
    EXPECT_TRUE(open_nvrtc(search));
}

TEST_F(NvrtcTest, LooksInToolkitsThenWheelsThenTheSystem) {
    ::setenv("CUDA_PATH", "/toolkit", 1);
    ::setenv("CUDA_HOME", "", 1);
    const CudaSearch search = default_cuda_search("/site");
    ::unsetenv("CUDA_PATH");
    ::unsetenv("CUDA_HOME");
    const auto place = [&](const fs::path& folder) {
        const auto found = std::find(search.library_folders.begin(), search.library_folders.end(), folder);
        EXPECT_NE(found, search.library_folders.end()) << folder;
        return found;
    };
    EXPECT_EQ(place("/toolkit/lib64"), search.library_folders.begin());
    EXPECT_LT(place("/toolkit/lib64"), place("/site/nvidia/cu13/lib"));
    EXPECT_LT(place("/site/nvidia/cu13/lib"), place("/usr/local/cuda/lib64"));
    EXPECT_EQ(search.include_folders.front(), "/toolkit/include");
    EXPECT_THAT(search.library_names, Contains("libnvrtc.so.13"));
    for (const fs::path& folder : default_cuda_search({}).library_folders) {
        EXPECT_TRUE(folder.is_absolute()) << folder;
    }
    EXPECT_THAT(wheel_cuda_search("/site").library_names, ElementsAre());
}

}  // namespace
}  // namespace kf::gen
