// From CUDA sources to images, with a fake compiler.
#include "cuda/cubins.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "cuda/isolated_compiler.h"
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
    std::string error_id = "cuda-compile";
    std::vector<std::string> log;
    std::string version_text = "13.0";
    std::string build_text = "CL-1";
    std::filesystem::path header;
    std::vector<std::string> known{"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
    mutable std::vector<std::string> compiled;  ///< the architecture of each compilation
    mutable std::vector<std::string> texts;     ///< and what it was given
    std::string spills;                         ///< what the log says while a kernel's registers are bounded

    [[nodiscard]] std::string version() const override { return version_text; }
    [[nodiscard]] std::vector<std::string> architectures() const override { return known; }
    [[nodiscard]] std::string build() const override { return build_text; }
    [[nodiscard]] Diagnostics check(const std::string&, const std::string&) const override { return {}; }
    [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {}; }
    [[nodiscard]] std::vector<std::filesystem::path> headers(const std::string&) const override {
        return header.empty() ? std::vector<std::filesystem::path>{} : std::vector{header};
    }
    [[nodiscard]] bool precompile(const std::string&, const std::string&, const std::string&) const override {
        return false;
    }
    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program, const std::string& architecture,
                                            const std::string&) const override {
        const std::scoped_lock lock(mutex_);
        compiled.push_back(architecture);
        texts.push_back(program.text);
        if (!poison.empty() && program.text.find(poison) != std::string::npos)
            return Diagnostic{Severity::error, error_id, {}, "failed for " + architecture, log};
        const bool bounded = program.text.find(", 6)") != std::string::npos;
        const std::string name = program.prelude + program.text;
        return CudaCode{"cubin " + architecture + " " + name,
                        ".version 9.0\n.target " + architecture + "\n" + name, bounded ? spills : ""};
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
                          "prelude\n" + std::string(cuda_prelude_end) + "__global__ void " + name + "() {}\n",
                          {"m.kf.json", static_cast<std::int64_t>(10 + i), 1},
                          0,
                          0,
                          {},
                          name});
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
    const std::string bounded = "__global__ void __launch_bounds__(128, 6) kernel0() {}\n";
    const std::string unbounded = "__global__ void __launch_bounds__(128) kernel0() {}\n";
    const auto kept = compile_cuda(sources, {target_, compiler_, 1, nullptr});
    EXPECT_THAT(compiler_.texts, ElementsAre(bounded));
    EXPECT_THAT(text(kept.value()[0][0]), testing::EndsWith(bounded));

    compiler_.texts.clear();
    compiler_.spills =
        "ptxas info    : Function properties for kernel0\n"
        "ptxas         .     64 bytes stack frame, 64 bytes spill stores, 8 bytes spill loads\n";
    const auto freed = compile_cuda(sources, {target_, compiler_, 1, nullptr});
    EXPECT_THAT(compiler_.texts, ElementsAre(bounded, unbounded));
    EXPECT_THAT(text(freed.value()[0][0]), testing::EndsWith(unbounded));
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

TEST_F(CubinsTest, ImagesAreMadeOfTheirKernelsAlone) {
    const auto images = compile(3);
    ASSERT_TRUE(images);
    ASSERT_EQ(images.value().size(), 3u);
    EXPECT_EQ(compiler_.compiled.size(), 6u) << "three kernels, two architectures";
    EXPECT_EQ(compile(1).value()[0], images.value()[0]) << "whatever other kernels there are";
    for (std::size_t k = 0; k < 3; ++k) {
        const std::string name = "kernel" + std::to_string(k);
        for (const manifest::Image& image : images.value()[k]) {
            EXPECT_THAT(text(image), testing::EndsWith("prelude\n__global__ void " + name + "() {}\n"));
            EXPECT_EQ(image.entry_point, name);
        }
    }
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
    const auto first = compile(3);
    ASSERT_EQ(compiler_.compiled.size(), 6u);
    const auto second = compile(3);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first.value(), second.value());
    EXPECT_EQ(compiler_.compiled.size(), 6u);
    target_.ptx_isa_max = {8, 0};
    EXPECT_THAT(text(compile(3).value()[0].back()), HasSubstr(".version 8.0\n"));
    EXPECT_EQ(compiler_.compiled.size(), 6u) << "the cap is applied to what is kept";
    compiler_.version_text = "13.1";
    ASSERT_TRUE(compile(3));
    EXPECT_EQ(compiler_.compiled.size(), 12u) << "another compiler";
    compiler_.build_text = "CL-2";
    ASSERT_TRUE(compile(3));
    EXPECT_EQ(compiler_.compiled.size(), 18u) << "another build of it";
    compiler_.header = std::filesystem::path(testing::TempDir()) / "kf_cubins_test.h";
    for (const auto& [content, compiled] : {std::pair{"1", 24u}, {"2", 30u}, {"1", 30u}}) {
        std::ofstream(compiler_.header) << content;
        ASSERT_TRUE(compile(3));
        EXPECT_EQ(compiler_.compiled.size(), compiled) << "a header that holds " << content;
    }
    std::filesystem::remove(compiler_.header);
}

TEST_F(CubinsTest, TellsAllThatWasMadeAlsoOfWhatTheStoreHas) {
    FakeStore store;
    compiler_.spills = "Function properties for kernel0\n";
    std::vector<CudaKernelSource> sources = kernels(2);
    sources[0].threads = 128;
    sources[0].resident_groups = 6;
    ASSERT_TRUE(compile_cuda(sources, {target_, compiler_, 2, &store}));
    const std::size_t before = compiler_.compiled.size();
    CudaJob job{target_, compiler_, 2, &store};
    std::vector<std::string> told;
    job.made = [&](std::size_t kernel, const std::string& architecture, const CudaCode& code) {
        EXPECT_FALSE(code.ptx.empty());
        EXPECT_FALSE(code.cubin.empty());
        told.push_back(std::to_string(kernel) + " " + architecture + " " + code.log);
    };
    const auto first = compile_cuda(sources, job);
    EXPECT_GT(compiler_.compiled.size(), before) << "logs were not kept before";
    const std::size_t after = compiler_.compiled.size();
    std::vector<std::string> expected{"0 sm_80 " + compiler_.spills, "1 sm_80 ",
                                      "0 sm_90 " + compiler_.spills, "1 sm_90 "};
    std::sort(told.begin(), told.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(told, expected);
    told.clear();
    const auto second = compile_cuda(sources, job);
    EXPECT_EQ(compiler_.compiled.size(), after);
    std::sort(told.begin(), told.end());
    EXPECT_EQ(told, expected);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first.value(), second.value());
}

TEST_F(CubinsTest, AChangedKernelAloneIsCompiledAgain) {
    FakeStore store;
    target_.architectures = {"sm_80"};
    target_.ptx = false;
    std::vector<CudaKernelSource> sources = kernels(30);
    std::vector<std::string> found;
    CudaJob job{target_, compiler_, 2, &store};
    job.found = [&](const CudaKernelSource& kernel, const std::string& architecture, bool is_kept) {
        if (!is_kept) found.push_back(kernel.name + " " + architecture);
    };
    ASSERT_TRUE(compile_cuda(sources, job));
    EXPECT_EQ(found.size(), 30u);
    found.clear();
    compiler_.texts.clear();
    sources[7].text += "// changed\n";
    sources.erase(sources.begin() + 3);
    const auto warm = compile_cuda(sources, job);
    EXPECT_THAT(found, ElementsAre("kernel7 sm_80"));
    EXPECT_THAT(compiler_.texts, ElementsAre(HasSubstr("kernel7() {}\n// changed\n")));
    EXPECT_EQ(warm.value(), compile_cuda(sources, {target_, compiler_, 2}).value());
    // PTX is kept where an artifact has it.
    target_.ptx = true;
    found.clear();
    ASSERT_TRUE(compile_cuda(sources, job));
    EXPECT_EQ(found.size(), 29u);
    // The prelude counts, too.
    sources[2].text.insert(0, "#define MORE\n");
    found.clear();
    ASSERT_TRUE(compile_cuda(sources, job));
    EXPECT_THAT(found, ElementsAre("kernel2 sm_80"));
}

TEST_F(CubinsTest, EachWorkerHasACompilerOfItsOwn) {
    const std::vector<CudaKernelSource> sources = kernels(10);
    CudaJob job{target_, compiler_, 2};
    std::vector<std::size_t> made;
    const auto forward = [this] { return std::shared_ptr<const CudaCompiler>(&compiler_, [](auto*) {}); };
    job.make_worker = [&](std::size_t programs) {
        made.push_back(programs);
        return make_isolated(forward(), {}, false);
    };
    const auto images = compile_cuda(sources, job);
    EXPECT_THAT(made, ElementsAre(10u, 10u));
    EXPECT_THAT(compiler_.texts, IsEmpty()) << "in other processes";
    EXPECT_EQ(images.value(), compile_cuda(sources, {target_, compiler_, 1}).value());
}

TEST_F(CubinsTest, ErrorsPointAtTheCallThatTheLogIsAbout) {
    compiler_.poison = "kernel26";
    compiler_.log = {"kernel.cu(3): error: identifier \"x\" is undefined", "  x();", "  ^",
                     "kernel.cu(9): error: expected a type", "2 errors detected in the compilation."};
    const auto failed = compile(30);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 1u) << "once, not for each architecture";
    const Diagnostic& first = failed.errors()[0];
    EXPECT_EQ(first.id, "cuda-compile");
    EXPECT_EQ(first.location, (Location{"m.kf.json", 10 + 26, 1}));
    EXPECT_THAT(first.message, HasSubstr("identifier \"x\" is undefined"));
    std::vector<std::string> notes = compiler_.log;
    notes.insert(notes.begin(), "failed for sm_80, in kernel26");
    EXPECT_EQ(first.notes, notes);
}

TEST_F(CubinsTest, WhatKernelsIncludeIsTheTargets) {
    compiler_.poison = "kernel";
    compiler_.log = {"kf_prelude.h(3): catastrophic error: cannot open source file \"cuda_fp16.h\""};
    const auto failed = compile(3, 1);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 2u) << "one for each architecture";
    EXPECT_EQ(failed.errors()[0].location, target_.location);
    EXPECT_EQ(failed.errors()[0].message, "failed for sm_80");
    EXPECT_EQ(failed.errors()[0].notes, compiler_.log);
}

TEST_F(CubinsTest, WhatIsStoppedIsItsCalls) {
    compiler_.poison = "kernel1";
    compiler_.error_id = "nvrtc-timeout";
    const auto failed = compile(3, 1);
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 2u);
    EXPECT_EQ(failed.errors()[1].location, (Location{"m.kf.json", 11, 1}));
    EXPECT_EQ(failed.errors()[1].message, "failed for sm_90");
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
