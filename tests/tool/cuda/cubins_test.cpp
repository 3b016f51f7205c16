// From CUDA sources to images, with a fake compiler.
#include "cuda/cubins.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "slang/compiler.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Its code names what it was compiled from. Refuses sources that hold `poison`, with `log`.
class FakeCudaCompiler final : public CudaCompiler {
public:
    std::string poison;
    std::vector<std::string> log;
    std::string version_text = "13.0";
    std::string build_text = "CL-1";
    std::filesystem::path header;
    std::vector<std::string> known{"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
    mutable std::vector<std::string> compiled;  ///< the architecture of each compilation
    mutable std::vector<std::string> bounds;    ///< the macro that bounds a kernel, of each
    std::string spills;                         ///< what the log says while a kernel is bounded

    [[nodiscard]] std::string version() const override { return version_text; }
    [[nodiscard]] std::vector<std::string> architectures() const override { return known; }
    [[nodiscard]] std::string build() const override { return build_text; }
    [[nodiscard]] Diagnostics check(const std::string&, const std::string&) const override { return {}; }
    [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {}; }
    [[nodiscard]] std::vector<std::filesystem::path> headers(const std::string&) const override {
        return header.empty() ? std::vector<std::filesystem::path>{} : std::vector{header};
    }
    [[nodiscard]] Outcome<CudaCode> compile(const std::string& source, const std::string& architecture,
                                            const std::vector<std::string>& defines) const override {
        const std::scoped_lock lock(mutex_);
        compiled.push_back(architecture);
        if (!poison.empty() && source.find(poison) != std::string::npos)
            return Diagnostic{Severity::error, "cuda-compile", {}, "failed for " + architecture, log};
        bool bounded = false;
        for (const std::string& define : defines) {
            if (!define.starts_with("kf_bounds_")) continue;
            bounds.push_back(define);
            bounded = define.find(',') != std::string::npos;
        }
        const std::string size = std::to_string(source.size()) + (bounded ? " bounded" : "");
        return CudaCode{"cubin " + architecture + " " + size,
                        ".version 9.0\n.target " + architecture + "\n// " + size, bounded ? spills : ""};
    }

private:
    mutable std::mutex mutex_;
};

class FakeStore final : public KernelStore {
public:
    std::optional<CompiledKernel> find(const std::string& key) override {
        const std::scoped_lock lock(mutex_);
        const auto found = kept_.find(key);
        return found == kept_.end() ? std::nullopt : std::optional(found->second);
    }
    void keep(const std::string& key, const CompiledKernel& kernel) override {
        const std::scoped_lock lock(mutex_);
        kept_[key] = kernel;
    }

private:
    std::mutex mutex_;
    std::map<std::string, CompiledKernel> kept_;
};

std::vector<CudaKernelSource> kernels(std::size_t count) {
    std::vector<CudaKernelSource> result;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "kernel" + std::to_string(i);
        result.push_back({name,
                          "prelude\n" + std::string(cuda_prelude_end) + "void " + name + "() {}\n",
                          {"m.kf.json", static_cast<std::int64_t>(10 + i), 1},
                          0,
                          0,
                          {}});
    }
    return result;
}

std::string text(const manifest::Image& image) {
    return {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()};
}

/// "cubin sm_80" and the like of one kernel.
std::vector<std::string> names(const std::vector<manifest::Image>& images) {
    std::vector<std::string> result;
    for (const manifest::Image& image : images) result.push_back(image.format + " " + image.architecture);
    return result;
}

class CubinsTest : public testing::Test {
protected:
    CubinsTest() {
        target_.backend = Backend::cuda;
        target_.architectures = {"sm_80", "sm_90"};
        target_.location = {"m.kf.json", 4, 30};
    }

    Outcome<std::vector<std::vector<manifest::Image>>> compile(std::size_t count, unsigned workers = 2) {
        const std::vector<CudaKernelSource> sources = kernels(count);
        return compile_cuda(sources, {target_, compiler_, workers, store_, cuda_headers(sources, compiler_)});
    }

    std::vector<std::string> names_of_one() {
        const auto images = compile(1);
        return images ? names(images.value()[0]) : std::vector<std::string>{};
    }

    TargetSpec target_;
    FakeCudaCompiler compiler_;
    KernelStore* store_ = nullptr;
};

TEST_F(CubinsTest, BoundsRegistersUnlessThatSpills) {
    std::vector<CudaKernelSource> sources = kernels(1);
    sources[0].threads = 128;
    sources[0].resident_groups = 6;
    target_.architectures = {"sm_90"};
    const auto kept = compile_cuda(sources, {target_, compiler_, 1, nullptr});
    EXPECT_THAT(compiler_.bounds, ElementsAre("kf_bounds_0=128,6"));
    EXPECT_THAT(text(kept.value()[0][0]), testing::EndsWith(" bounded"));

    compiler_.bounds.clear();
    compiler_.spills =
        "ptxas info    : Function properties for kernel0_0\n"
        "ptxas         .     64 bytes stack frame, 64 bytes spill stores, 8 bytes spill loads\n";
    const auto freed = compile_cuda(sources, {target_, compiler_, 1, nullptr});
    EXPECT_THAT(compiler_.bounds, ElementsAre("kf_bounds_0=128,6", "kf_bounds_0=128"));
    EXPECT_THAT(text(freed.value()[0][0]), testing::Not(testing::EndsWith(" bounded")));
}

TEST_F(CubinsTest, GivesACubinForEachArchitectureAndPtxOfTheNewest) {
    target_.architectures = {"sm_100", "sm_80", "sm_90"};
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_100", "ptx sm_100", "cubin sm_80", "cubin sm_90"));
    EXPECT_EQ(compiler_.compiled.size(), 3u);
}

TEST_F(CubinsTest, CompilesForItsOwnListWhenTheSpecHasNone) {
    target_.architectures.clear();
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_80", "cubin sm_90", "cubin sm_100", "ptx sm_100"));
    compiler_.known = {"sm_70", "sm_75", "sm_80"};
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_80", "ptx sm_80"));
    compiler_.known = {"sm_150"};
    const auto failed = compile(1);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.errors()[0].id, "cuda-architecture");
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("sm_150")));
}

TEST_F(CubinsTest, PtxOfAnArchitectureSpecificTargetRunsOnLaterOnes) {
    target_.architectures = {"sm_80", "sm_90a"};
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_80", "cubin sm_90a", "ptx sm_90"));
    target_.architectures = {"sm_90", "sm_90a"};
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_90", "ptx sm_90", "cubin sm_90a"));
}

TEST_F(CubinsTest, PtxCanBeLeftOut) {
    target_.ptx = false;
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_80", "cubin sm_90"));
    target_.architectures = {"sm_90a"};
    compiler_.compiled.clear();
    EXPECT_THAT(names_of_one(), ElementsAre("cubin sm_90a"));
    EXPECT_THAT(compiler_.compiled, ElementsAre("sm_90a"));
}

TEST_F(CubinsTest, CapsTheVersionOfPtx) {
    EXPECT_THAT(text(compile(1).value()[0].back()), HasSubstr(".version 9.0\n"));
    target_.ptx_isa_max = {8, 4};
    const auto images = compile(1);
    EXPECT_THAT(text(images.value()[0].back()), HasSubstr(".version 8.4\n"));
    EXPECT_THAT(text(images.value()[0].front()), HasSubstr("cubin sm_80"));
}

TEST_F(CubinsTest, RefusesAnUnknownArchitectureWithASuggestion) {
    target_.architectures = {"sm_80", "sm_91"};
    const auto failed = compile(1);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 1u);
    EXPECT_EQ(failed.errors()[0].id, "cuda-architecture");
    EXPECT_EQ(failed.errors()[0].location, target_.location);
    EXPECT_THAT(failed.errors()[0].message, HasSubstr("'sm_91'"));
    EXPECT_THAT(failed.errors()[0].message, HasSubstr("13.0"));
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("did you mean 'sm_90'?")));
    EXPECT_THAT(failed.errors()[0].notes, Contains(HasSubstr("sm_75, sm_80, sm_90, sm_100, sm_120")));
    EXPECT_THAT(compiler_.compiled, IsEmpty());
}

TEST_F(CubinsTest, KernelsOfAUnitShareTheirBytes) {
    const auto images = compile(3);
    ASSERT_TRUE(images);
    ASSERT_EQ(images.value().size(), 3u);
    EXPECT_EQ(compiler_.compiled.size(), 2u) << "one unit, two architectures";
    for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t i = 0; i < images.value()[k].size(); ++i) {
            const manifest::Image& image = images.value()[k][i];
            EXPECT_EQ(image.bytes.data(), images.value()[0][i].bytes.data());
            EXPECT_EQ(image.sha256, images.value()[0][i].sha256);
            EXPECT_EQ(image.entry_point, "kernel" + std::to_string(k) + "_" + std::to_string(k));
        }
    }
}

TEST_F(CubinsTest, SplitsManyKernelsOverUnits) {
    const auto images = compile(50);
    ASSERT_TRUE(images);
    ASSERT_EQ(images.value().size(), 50u);
    std::map<const std::byte*, int> shared;
    for (const auto& own : images.value()) ++shared[own.front().bytes.data()];
    std::multiset<int> sizes;
    for (const auto& [bytes, kernels] : shared) sizes.insert(kernels);
    EXPECT_EQ(sizes, (std::multiset<int>{2, 24, 24}));
    EXPECT_EQ(images.value()[23].front().entry_point, "kernel23_23");
    EXPECT_EQ(images.value()[24].front().entry_point, "kernel24_0");
    EXPECT_EQ(compiler_.compiled.size(), 6u);
}

TEST_F(CubinsTest, AnyNumberOfWorkersGivesTheSameImages) {
    const auto one = compile(60, 1);
    const auto many = compile(60, 5);
    ASSERT_TRUE(one && many);
    EXPECT_EQ(one.value(), many.value());
}

TEST_F(CubinsTest, WhatTheStoreHasIsNotCompiledAgain) {
    FakeStore store;
    store_ = &store;
    const auto first = compile(30);
    ASSERT_EQ(compiler_.compiled.size(), 4u);
    const auto second = compile(30);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first.value(), second.value());
    EXPECT_EQ(compiler_.compiled.size(), 4u);
    target_.ptx_isa_max = {8, 0};
    EXPECT_THAT(text(compile(30).value()[0].back()), HasSubstr(".version 8.0\n"));
    EXPECT_EQ(compiler_.compiled.size(), 4u) << "the cap is applied to what is kept";
    compiler_.version_text = "13.1";
    ASSERT_TRUE(compile(30));
    EXPECT_EQ(compiler_.compiled.size(), 8u) << "another compiler";
    compiler_.build_text = "CL-2";
    ASSERT_TRUE(compile(30));
    EXPECT_EQ(compiler_.compiled.size(), 12u) << "another build of it";
    compiler_.header = std::filesystem::path(testing::TempDir()) / "kf_cubins_test.h";
    for (const auto& [content, compiled] : {std::pair{"1", 16u}, {"2", 20u}, {"1", 20u}}) {
        std::ofstream(compiler_.header) << content;
        ASSERT_TRUE(compile(30));
        EXPECT_EQ(compiler_.compiled.size(), compiled) << "a header that holds " << content;
    }
    std::filesystem::remove(compiler_.header);
}

TEST_F(CubinsTest, ErrorsPointAtTheCallsThatTheLogIsAbout) {
    compiler_.poison = "kernel26";
    compiler_.log = {"kf_kernel_2(3): error: identifier \"x\" is undefined", "  x();", "  ^",
                     "kf_kernel_1(9): error: expected a type", "2 errors detected in the compilation."};
    const auto failed = compile(30);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 2u) << "once, not for each architecture";
    const Diagnostic& first = failed.errors()[0];
    EXPECT_EQ(first.id, "cuda-compile");
    EXPECT_EQ(first.location, (Location{"m.kf.json", 10 + 24 + 2, 1})) << "the second unit's third kernel";
    EXPECT_THAT(first.message, HasSubstr("identifier \"x\" is undefined"));
    EXPECT_THAT(first.notes, ElementsAre("failed for sm_80, in kernel26_2", compiler_.log[0],
                                         compiler_.log[1], compiler_.log[2]));
    EXPECT_EQ(failed.errors()[1].location, (Location{"m.kf.json", 10 + 24 + 1, 1}));
}

TEST_F(CubinsTest, OtherErrorsPointAtTheTarget) {
    compiler_.poison = "kernel0";
    compiler_.log = {"kernels.cu(3): catastrophic error: cannot open source file \"cuda_fp16.h\""};
    const auto failed = compile(1, 1);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 2u) << "one for each architecture";
    EXPECT_EQ(failed.errors()[0].location, target_.location);
    EXPECT_EQ(failed.errors()[0].message, "failed for sm_80");
    EXPECT_EQ(failed.errors()[0].notes, compiler_.log);
}

TEST_F(CubinsTest, SourcesOfAnotherFormAreRefused) {
    std::vector<CudaKernelSource> sources = kernels(1);
    sources[0].text = "nothing";
    const auto failed = compile_cuda(sources, {target_, compiler_, 1, nullptr});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.errors()[0].id, "internal-cuda-source");
}

}  // namespace
}  // namespace kf::gen
