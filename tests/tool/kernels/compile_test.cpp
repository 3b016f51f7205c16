// Tests compiling kernels on several threads, with a fake compiler.
#include "kernels/compile.h"

#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;

/// Gives each source's length as its code; refuses sources that hold `poison`.
class FakeCompiler final : public Compiler {
public:
    inline static std::atomic<int> running_{0};
    inline static std::atomic<int> most_{0};  ///< that ran at once

    FakeCompiler(std::atomic<int>& compiled, std::string poison, std::string doubtful)
        : compiled_(compiled), poison_(std::move(poison)), doubtful_(std::move(doubtful)) {}

    Outcome<std::optional<Type>> type_named(const std::string&) override { return std::optional<Type>(); }
    Outcome<bool> conforms(const std::string&, const std::string&) override { return false; }
    Outcome<Module> reflect(const std::vector<std::filesystem::path>&, const std::string&) override {
        return Module{};
    }

    Outcome<CompiledKernel> compile(const KernelSource& source, CodeTarget) override {
        ++compiled_;
        const int running = ++running_;
        for (int most = most_; running > most && !most_.compare_exchange_weak(most, running);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --running_;
        if (!poison_.empty() && source.text.find(poison_) != std::string::npos) {
            return Diagnostic{
                Severity::error, "slang-E1", source.origin, "refused " + source.entry_point, {}};
        }
        CompiledKernel kernel;
        kernel.code = std::to_string(source.text.size());
        Diagnostics warnings;
        if (!doubtful_.empty() && source.text.find(doubtful_) != std::string::npos) {
            warnings.push_back({Severity::warning, "slang-E2", {"/m.slang", 3, 1}, "doubtful", {}});
        }
        return Outcome<CompiledKernel>(std::move(kernel)).with_warnings(std::move(warnings));
    }

    Outcome<std::vector<Reached>> reach(const KernelSource&, const CodeForm&) override {
        return std::vector<Reached>();
    }
    [[nodiscard]] std::string version() const override { return "fake"; }

private:
    std::atomic<int>& compiled_;
    std::string poison_;
    std::string doubtful_;
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
    [[nodiscard]] std::size_t size() const { return kept_.size(); }

private:
    std::mutex mutex_;
    std::map<std::string, CompiledKernel> kept_;
};

class CompileTest : public testing::Test {
protected:
    CompileTest() {
        const Outcome<Plan> plan = test::plan_of(
            R"({"function": "add", "args": {"x": ["value", "tensor[1]", "tensor[2]", "tensor[3]"], "y": ["tensor[1]", "tensor[2]"]}})",
            {test::function_of("float", "add", {{"float", "x"}, {"float", "y"}})});
        kernels_ = collect_kernels(plan.value(), {CodeTarget::spirv}).value();
    }

    CompileJob job(unsigned workers, KernelStore* store = nullptr, const std::string& environment = "e") {
        CompileJob result;
        result.make_compiler = [this]() -> Outcome<std::unique_ptr<Compiler>> {
            ++compilers_;
            return std::unique_ptr<Compiler>(std::make_unique<FakeCompiler>(compiled_, poison_, doubtful_));
        };
        keys_.emplace(environment, std::map<CodeTarget, std::vector<SourceFile>>(),
                      std::vector<std::pair<std::string, std::string>>());
        result.keys = &*keys_;
        result.workers = workers;
        result.store = store;
        return result;
    }

    KernelSet kernels_;
    std::optional<CodeKeys> keys_;
    std::atomic<int> compiled_{0};
    int compilers_ = 0;
    std::string poison_;
    std::string doubtful_;
};

TEST_F(CompileTest, AnyNumberOfWorkersGivesTheSameUnitsInOrder) {
    ASSERT_GT(kernels_.units.size(), 6u);
    const auto one = compile_kernels(kernels_, job(1));
    EXPECT_EQ(compilers_, 1);
    const auto four = compile_kernels(kernels_, job(4));
    EXPECT_GT(compilers_, 2);
    ASSERT_TRUE(one && four);
    for (std::size_t i = 0; i < kernels_.units.size(); ++i) {
        const std::string& text = kernels_.units[i].sources.at(CodeTarget::spirv).source.text;
        EXPECT_EQ(one.value()[i].at(CodeTarget::spirv).code, std::to_string(text.size()));
        EXPECT_EQ(four.value()[i].at(CodeTarget::spirv).code, std::to_string(text.size()));
    }
}

TEST_F(CompileTest, WhatTheStoreHasIsNotCompiledAgain) {
    FakeStore store;
    ASSERT_TRUE(compile_kernels(kernels_, job(2, &store)));
    EXPECT_EQ(store.size(), kernels_.units.size());
    compiled_ = 0;
    compilers_ = 0;
    ASSERT_TRUE(compile_kernels(kernels_, job(2, &store)));
    EXPECT_EQ(compiled_, 0);
    EXPECT_EQ(compilers_, 0);
    ASSERT_TRUE(compile_kernels(kernels_, job(2, &store, "another environment")));
    EXPECT_EQ(compiled_, static_cast<int>(kernels_.units.size()));
}

TEST_F(CompileTest, AllErrorsComeBackAndTheRestIsStillKept) {
    FakeStore store;
    poison_ = "void kf_add_forward_strided";
    const auto failed = compile_kernels(kernels_, job(2, &store));
    ASSERT_FALSE(failed);
    ASSERT_EQ(failed.errors().size(), 1u) << "one place, one message, however many kernels";
    EXPECT_EQ(failed.errors()[0].id, "slang-E1");
    EXPECT_THAT(failed.errors()[0].message, HasSubstr("kf_add_forward_strided"));
    EXPECT_GT(store.size(), 0u);
}

TEST_F(CompileTest, KernelsWithWarningsWarnInEveryRun) {
    FakeStore store;
    doubtful_ = "void kf_add_forward_strided";
    for (int run = 0; run < 2; ++run) {
        compiled_ = 0;
        const auto units = compile_kernels(kernels_, job(2, &store));
        ASSERT_TRUE(units);
        ASSERT_EQ(units.warnings().size(), 1u) << "one place, one message, however many kernels";
        EXPECT_EQ(units.warnings()[0].message, "doubtful");
        EXPECT_LT(store.size(), kernels_.units.size());
        const int expected =
            static_cast<int>(run == 0 ? kernels_.units.size() : kernels_.units.size() - store.size());
        EXPECT_EQ(compiled_, expected);
    }
    poison_ = "void kf_add_forward_contiguous";
    const auto failed = compile_kernels(kernels_, job(2));
    EXPECT_EQ(failed.errors().size(), 1u);
    EXPECT_EQ(failed.warnings().size(), 1u);
}

TEST_F(CompileTest, NoMoreKernelsAreCompiledAtOnceThanMakeHasJobs) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const auto server = process::JobServer::of("-j2 --jobserver-auth=" + std::to_string(ends[0]) + "," +
                                               std::to_string(ends[1]));
    ASSERT_NE(server, nullptr);
    for (const char* poison : {"", "void kf_add"}) {
        poison_ = poison;
        for (int tokens = 0; tokens < 2; ++tokens) {
            FakeCompiler::most_ = 0;
            CompileJob four = job(4);
            four.slots = server.get();
            EXPECT_EQ(compile_kernels(kernels_, four).ok(), poison_.empty());
            EXPECT_GE(compilers_, 2);
            EXPECT_LE(FakeCompiler::most_, 1 + tokens) << "one job is kfgen's own";
            int left = 0;
            ASSERT_EQ(ioctl(ends[0], FIONREAD, &left), 0);
            EXPECT_EQ(left, tokens);
            if (tokens == 0) {
                ASSERT_EQ(write(ends[1], "+", 1), 1);
            }
        }
        char token = 0;
        ASSERT_EQ(read(ends[0], &token, 1), 1);
    }
    for (const int end : ends) close(end);
}

TEST_F(CompileTest, NoCompilerIsAnError) {
    CompileJob broken = job(2);
    broken.make_compiler = []() -> Outcome<std::unique_ptr<Compiler>> {
        return Diagnostic{Severity::error, "slang-missing", {}, "no Slang", {}};
    };
    const auto failed = compile_kernels(kernels_, broken);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.errors()[0].id, "slang-missing");
}

}  // namespace
}  // namespace kf::gen
