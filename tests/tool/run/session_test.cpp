// Specs and options come together, and what is missing is told where the spec names it.
#include "run/session.h"

#include <gmock/gmock.h>

#include "run/generate.h"
#include "run/listing.h"
#include "tool/output/fake_file_system.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* spec_text = R"({"version": 1, "name": "p", "modules": ["add.slang"],
  "search_paths": ["lib"], "defines": {"A": "1", "B": "2"},
  "calls": [{"function": "add", "args": {"x": ["value", "tensor[1]", "tensor[2]"]}}]})";

/// A compiler that knows one function, or that can't find its module.
class FakeCompiler final : public Compiler {
public:
    Outcome<std::optional<Type>> type_named(const std::string&) override { return std::optional<Type>(); }
    Outcome<bool> conforms(const std::string&, const std::string&) override { return false; }
    Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules, const std::string&) override {
        if (missing) {
            const Diagnostic error{
                Severity::error, "slang-module-not-found", {modules[0].string(), 0, 0}, "none", {}};
            return Outcome<Module>(error).with_warnings(warnings);
        }
        Module module;
        module.module_names = {"add"};
        module.functions = {test::function_of("float", "add", parameters)};
        module.sources = {{"/d/add.slang", "float add(float x);"}};
        return Outcome<Module>(std::move(module)).with_warnings(warnings);
    }
    Outcome<CompiledKernel> compile(const KernelSource&, CodeTarget) override { return CompiledKernel{}; }
    Outcome<std::vector<Reached>> reach(const KernelSource&, const CodeForm&) override {
        return std::vector<Reached>();
    }
    [[nodiscard]] std::string version() const override { return "fake"; }

    bool missing = false;
    Diagnostics warnings;
    std::vector<test::ParameterText> parameters{{"float", "x"}};
};

class SessionTest : public testing::Test {
protected:
    SessionTest() {
        disk_.files["/d/p.kf.json"] = spec_text;
        disk_.files["/d/add.slang"] = "float add(float x) { return x; }";
        options_.spec = "/d/p.kf.json";
    }

    FakeFileSystem disk_;
    Options options_;
};

TEST_F(SessionTest, OptionsWinOverTheSpec) {
    options_.namespace_name = "app::kernels";
    options_.backends = {Backend::cuda, Backend::vulkan};
    const Outcome<Spec> spec = load_spec(options_, disk_);
    ASSERT_TRUE(spec) << format_text(spec.errors().front());
    EXPECT_EQ(spec.value().namespace_name, "app::kernels");
    EXPECT_THAT(code_targets(spec.value()), ElementsAre(CodeTarget::spirv, CodeTarget::cuda_source));
}

TEST_F(SessionTest, MemoryIsLimitedByDefault) {
    constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
    EXPECT_EQ(default_memory_limit(64 * gibibyte, 8), 6 * gibibyte);
    EXPECT_EQ(default_memory_limit(16 * gibibyte, 8), 2 * gibibyte) << "few kernels need so much at once";
    EXPECT_EQ(default_memory_limit(2 * gibibyte, 8), gibibyte / 2 * 3) << "one alone may not take more";
    EXPECT_EQ(default_memory_limit(0, 8), 0U) << "nothing says how much there is";
    EXPECT_GT(compiler_options(Spec{}, Options{}).memory_limit, 0U);
    Options options;
    options.max_memory = 0;
    EXPECT_EQ(compiler_options(Spec{}, options).memory_limit, 0U);
}

TEST_F(SessionTest, AnotherNameIsTheNamespacesToo) {
    for (const char* more : {"", R"("namespace": "app::kernels", )"}) {
        disk_.files["/d/p.kf.json"] = std::string(spec_text).insert(1, more);
        options_.name = "q";
        options_.namespace_name = "";
        const Outcome<Spec> spec = load_spec(options_, disk_);
        ASSERT_TRUE(spec) << format_text(spec.errors().front());
        EXPECT_EQ(spec.value().name, "q");
        EXPECT_EQ(spec.value().namespace_name, "q");
        EXPECT_EQ(output_paths(spec.value(), options_).header, "q.h");
        options_.namespace_name = "app::q";
        EXPECT_EQ(load_spec(options_, disk_).value().namespace_name, "app::q");
        // It is checked as the spec's own is.
        options_.name = "random";
        options_.python = true;
        const Outcome<Spec> hiding = load_spec(options_, disk_);
        options_.python = false;
        ASSERT_FALSE(hiding);
        EXPECT_THAT(hiding.errors()[0].message, HasSubstr("random.py would hide"));
    }
}

TEST_F(SessionTest, SearchPathsAndDefinesComeInOrder) {
    options_.defines = {{"B", "3"}};
    options_.include_directories = {"/x"};
    const CompilerOptions settings = compiler_options(load_spec(options_, disk_).value(), options_);
    EXPECT_THAT(settings.defines, ElementsAre(std::pair("A", "1"), std::pair("B", "3")));
    EXPECT_THAT(settings.search_paths, ElementsAre("/d", "/d/lib", "/x"));
    EXPECT_THAT(settings.modules, ElementsAre("/d/add.slang"));
}

TEST_F(SessionTest, AMissingModuleIsAMistakeInTheSpec) {
    FakeCompiler compiler;
    compiler.missing = true;
    const Outcome<Planned> planned = plan_spec(load_spec(options_, disk_).value(), compiler);
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.errors()[0].location.file, "/d/p.kf.json");
    EXPECT_EQ(planned.errors()[0].location.line, 1);
    EXPECT_GT(planned.errors()[0].location.column, 1);
}

TEST_F(SessionTest, WarningsOfTheModulesStayWithPlansAndErrors) {
    FakeCompiler compiler;
    compiler.warnings = {{Severity::warning, "slang-E41016", {"/d/add.slang", 1, 2}, "not set", {}}};
    const Spec spec = load_spec(options_, disk_).value();
    const Outcome<Planned> planned = plan_spec(spec, compiler);
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned.warnings(), compiler.warnings);
    compiler.parameters = {{"float", "x"}, {"float", "y"}};
    const Outcome<Planned> unplanned = plan_spec(spec, compiler);
    ASSERT_FALSE(unplanned);
    EXPECT_EQ(unplanned.warnings(), compiler.warnings);
    compiler.missing = true;
    const Outcome<Planned> unread = plan_spec(spec, compiler);
    ASSERT_FALSE(unread);
    EXPECT_EQ(unread.warnings(), compiler.warnings);
}

TEST_F(SessionTest, KeysFollowSourcesAndDefines) {
    const Spec spec = load_spec(options_, disk_).value();
    Planned planned;
    planned.sources = {{"/d/add.slang", "float add(float x) { return x; }"}};
    KernelSource kernel;
    kernel.text = "import add;\nfloat one() { return add(1); }";
    const auto key = [&] {
        return code_keys(compiler_options(spec, options_), planned, "1").key(CodeTarget::spirv, kernel);
    };
    const std::string first = key();
    EXPECT_EQ(key(), first);
    options_.defines = {{"C", "1"}};
    const std::string second = key();
    EXPECT_NE(second, first);
    planned.sources["/d/add.slang"] += "  // nothing more\nfloat other(float x) { return x; }";
    EXPECT_EQ(key(), second);
    planned.sources["/d/add.slang"] += "float add(int x) { return x; }";
    EXPECT_NE(key(), second);
    const std::string third = key();
    // It lies elsewhere.
    planned.sources = {{"/elsewhere/add.slang", planned.sources["/d/add.slang"]}};
    EXPECT_EQ(key(), third);
}

TEST_F(SessionTest, TheListingNamesWhatIsShared) {
    FakeCompiler compiler;
    const Planned planned = plan_spec(load_spec(options_, disk_).value(), compiler).value();
    const KernelSet kernels = collect_kernels(planned.plan, {CodeTarget::spirv}).value();
    const std::string text = listing(planned.plan, kernels);
    EXPECT_THAT(text, HasSubstr("add\n  (x: value<float>) -> value<float>, rank 0\n"));
    EXPECT_THAT(text, HasSubstr("(x: tensor<float>[2]) -> tensor<float>[2], rank 2"));
    EXPECT_THAT(text, HasSubstr("kernel 1: add.forward.contiguous, 256 threads a group"));
    EXPECT_THAT(text, HasSubstr("shared by 2 overloads"));
    EXPECT_THAT(text, HasSubstr("4 kernel(s)\n"));
}

TEST_F(SessionTest, TheListingNamesEveryKernel) {
    disk_.files["/d/p.kf.json"] = R"({"version": 1, "name": "p", "modules": ["add.slang"], "calls": [
  {"function": "add", "args": {"x": "tensor[2]", "y": "tensor[1]"}, "backward": {"deterministic": "auto"}}]})";
    FakeCompiler compiler;
    compiler.parameters = {{"float", "x"}, {"float", "y"}};
    const Planned planned = plan_spec(load_spec(options_, disk_).value(), compiler).value();
    const KernelSet kernels = collect_kernels(planned.plan, {CodeTarget::spirv}).value();
    const std::string text = listing(planned.plan, kernels);
    EXPECT_THAT(text, HasSubstr("add.backward.rows"));
    EXPECT_THAT(text, HasSubstr("add.backward.deterministic.rows"));
    for (std::size_t i = 0; i < kernels.units.size(); ++i)
        EXPECT_THAT(text, HasSubstr("    kernel " + std::to_string(i) + ": "));
}

TEST_F(SessionTest, OverloadSetsShareTheirKernels) {
    disk_.files["/d/p.kf.json"] = R"({"version": 1, "name": "p", "modules": ["add.slang"], "calls": [
  {"function": "add", "args": {"x": ["value", "tensor[1]", "tensor[2]", "tensor[3]"],
    "y": ["value", "tensor[1]", "tensor[2]", "tensor[3]"],
    "z": ["value", "tensor[1]", "tensor[2]", "tensor[3]"]}}]})";
    FakeCompiler compiler;
    compiler.parameters = {{"float", "x"}, {"float", "y"}, {"float", "z"}};
    const Planned planned = plan_spec(load_spec(options_, disk_).value(), compiler).value();
    ASSERT_EQ(planned.plan.functions.at(0).calls.size(), 64U);
    const KernelSet kernels = collect_kernels(planned.plan, {CodeTarget::spirv}).value();
    // One of rank 0. Strided ones: all ways but values alone. Contiguous ones differ in what has the call's
    // rank, what a lower one and what is a value, but not in the rank itself where nothing is below it.
    EXPECT_EQ(kernels.units.size(), 71U);
    const std::string text = listing(planned.plan, kernels);
    EXPECT_THAT(text, HasSubstr("(x: tensor<float>[3], y: tensor<float>[3], z: tensor<float>[3])"));
    EXPECT_THAT(text, HasSubstr(", shared by 27 overloads\n"));
    EXPECT_THAT(text, HasSubstr("71 kernel(s)\n"));
}

}  // namespace
}  // namespace kf::gen
