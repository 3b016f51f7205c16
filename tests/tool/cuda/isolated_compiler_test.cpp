// A compiler in a child process that hangs, grows and dies.
#include "cuda/isolated_compiler.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace kf::gen {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::HasSubstr;

/// Does what a program's text says.
class ObedientCompiler final : public CudaCompiler {
public:
    [[nodiscard]] std::string version() const override { return "13.0"; }
    [[nodiscard]] std::vector<std::string> architectures() const override { return {"sm_80"}; }
    [[nodiscard]] std::string build() const override { return "build"; }
    [[nodiscard]] std::vector<fs::path> files() const override { return {"/libnvrtc.so"}; }
    [[nodiscard]] std::vector<fs::path> headers(const std::string& source) const override { return {source}; }
    [[nodiscard]] Diagnostics check(const std::string& source, const std::string&) const override {
        obey(source);
        return {};
    }
    [[nodiscard]] bool precompile(const std::string& prelude, const std::string& architecture,
                                  const std::string& file) const override {
        std::ofstream(file) << prelude << " for " << architecture;
        obey(prelude);
        return prelude != "unusable";
    }
    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program, const std::string& architecture,
                                            const std::string& precompiled) const override {
        obey(program.text);
        if (program.text == "wrong")
            return Diagnostic{Severity::error, "cuda-compile", {}, "no\xFF", {"a", "b"}};
        std::string read;
        std::getline(std::ifstream(precompiled), read);
        return CudaCode{std::string("\0\xFF", 2) + architecture, program.prelude + program.text, read};
    }

private:
    static void obey(const std::string& text) {
        if (text == "die") raise(SIGKILL);
        while (text == "hang") std::this_thread::sleep_for(1h);
        if (text == "grow") {
            for (std::vector<std::string> all;;) all.emplace_back(1 << 20, 'x');
        }
    }
};

std::unique_ptr<const CudaCompiler> isolated(const CudaLimits& limits = {}, bool many = false) {
    return make_isolated(std::make_shared<ObedientCompiler>(), limits, many);
}

TEST(IsolatedCompiler, AnswersAsTheOther) {
    const auto compiler = isolated();
    const auto code = compiler->compile({"'f'", "p", "text"}, "sm_80");
    ASSERT_TRUE(code);
    EXPECT_EQ(code.value().cubin, std::string("\0\xFFsm_80", 7));
    EXPECT_EQ(code.value().ptx, "ptext");
    EXPECT_EQ(code.value().log, "") << "nothing is precompiled for one program";
    const auto failed = compiler->compile({"'f'", {}, "wrong"}, "sm_80");
    const Diagnostic expected{Severity::error, "cuda-compile", {}, "no\xFF", {"a", "b"}};
    EXPECT_EQ(failed.errors(), Diagnostics{expected});
    EXPECT_EQ(compiler->version() + compiler->build() + compiler->architectures()[0], "13.0buildsm_80");
    EXPECT_EQ(compiler->files()[0], "/libnvrtc.so");
    EXPECT_EQ(compiler->headers("a.h")[0], "a.h");
    EXPECT_TRUE(compiler->check("text", "sm_80").empty());
}

TEST(IsolatedCompiler, StopsAtTheTimeLimitAndStartsAnother) {
    const auto compiler = isolated({2s, 0});
    const auto stopped = compiler->compile({"'a.forward'", {}, "hang"}, "sm_80");
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.errors()[0].id, "nvrtc-timeout");
    EXPECT_EQ(
        stopped.errors()[0].message,
        "NVRTC was stopped: compiling 'a.forward' for sm_80 took longer than 2 s, in which it did nothing");
    EXPECT_TRUE(compiler->compile({"'f'", {}, "text"}, "sm_80"));
}

TEST(IsolatedCompiler, StopsAtTheMemoryLimit) {
    const auto compiler = isolated({60s, std::uint64_t{300} << 20});
    const auto stopped = compiler->compile({"'f'", {}, "grow"}, "sm_90");
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.errors()[0].id, "nvrtc-memory");
    EXPECT_EQ(stopped.errors()[0].message,
              "NVRTC was stopped: compiling 'f' for sm_90 took more than 300 MiB of memory; --max-memory "
              "sets the limit");
    EXPECT_EQ(compiler->check("grow", "sm_90")[0].id, "nvrtc-memory");
}

TEST(IsolatedCompiler, SurvivesACrash) {
    const auto compiler = isolated();
    const auto crashed = compiler->compile({"'f'", {}, "die"}, "sm_80");
    ASSERT_FALSE(crashed);
    EXPECT_EQ(crashed.errors()[0].id, "nvrtc-internal");
    EXPECT_THAT(crashed.errors()[0].message,
                HasSubstr("NVRTC crashed when compiling 'f' for sm_80: signal 9"));
    EXPECT_TRUE(compiler->compile({"'f'", {}, "text"}, "sm_80"));
}

class PrecompiledTest : public testing::Test {
protected:
    PrecompiledTest() {
        std::string pattern = (fs::temp_directory_path() / "kf-precompiled-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        ::setenv("TMPDIR", folder_.c_str(), 1);
        compiler_ = isolated({2s, 0}, true);
        ::unsetenv("TMPDIR");
    }
    ~PrecompiledTest() override { fs::remove_all(folder_); }

    std::string log_of(const std::string& prelude, const std::string& architecture = "sm_80") {
        const auto code = compiler_->compile({"'f'", prelude, "text"}, architecture);
        return code ? code.value().log : code.errors()[0].id;
    }

    fs::path folder_;
    std::unique_ptr<const CudaCompiler> compiler_;
};

TEST_F(PrecompiledTest, IsOfThePreludeAndArchitecture) {
    EXPECT_EQ(log_of("p"), "p for sm_80");
    EXPECT_EQ(log_of("p"), "p for sm_80");
    EXPECT_EQ(log_of("q"), "q for sm_80");
    EXPECT_EQ(log_of("q", "sm_90"), "q for sm_90");
    EXPECT_EQ(log_of("p"), "p for sm_80");
    EXPECT_EQ(log_of("unusable"), "");
    EXPECT_EQ(log_of(""), "");
    EXPECT_TRUE(fs::is_empty(folder_)) << "files have no names";
}

TEST_F(PrecompiledTest, NothingIsLeftOfOneThatWasStopped) {
    EXPECT_EQ(log_of("hang"), "nvrtc-timeout");
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(log_of("die"), "") << "it is compiled without";
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(log_of("p"), "p for sm_80");
}

}  // namespace
}  // namespace kf::gen
