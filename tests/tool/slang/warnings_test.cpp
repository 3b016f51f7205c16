// Slang's warnings come with modules and kernels: those in users' files, each once.
#include <gmock/gmock.h>

#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string entry = "struct Args { float* x; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n";

std::vector<std::string> lines(const Diagnostics& warnings) {
    std::vector<std::string> result;
    for (const Diagnostic& warning : warnings) {
        EXPECT_EQ(warning.severity, Severity::warning);
        const std::string file = std::filesystem::path(warning.location.file).filename();
        result.push_back(file + ":" + std::to_string(warning.location.line) + ":" +
                         std::to_string(warning.location.column) + " " + warning.id);
    }
    return result;
}

TEST(SlangWarnings, HavePlacesAndIdsAndComeOnce) {
    const ScratchFolder folder;
    (void)folder.write("deep.slang",
                       "#warning replaced by wide.slang\npublic float twice(float x) { return 2 * x; }\n");
    (void)folder.write("shared.h", "float unset() { float never; return never; }\n");
    const auto one =
        folder.write("one.slang",
                     "import deep;\n#include \"shared.h\"\n"
                     "float late(float x)\n{\n    return x;\n    x = twice(x);\n    return x;\n}\n");
    const auto two =
        folder.write("two.slang", "import deep;\nimport one;\nint16_t cut(int x) { return x; }\n");
    const Outcome<Module> module = make_compiler()->reflect({one, two});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(lines(module.warnings()),
                testing::UnorderedElementsAre("deep.slang:1:2 slang-E15901", "shared.h:1:30 slang-E41016",
                                              "one.slang:6:5 slang-E41000", "two.slang:3:29 slang-E30081"))
        << describe(module.warnings());
    EXPECT_THAT(describe(module.warnings()), HasSubstr("replaced by wide.slang"));
    EXPECT_THAT(describe(module.warnings()), HasSubstr("'never'"));
}

TEST(SlangWarnings, GlobalsThatAreNoVariables) {
    const ScratchFolder folder;
    (void)folder.write("inner.slang", "float offset = 2;\nstatic const float known = 3;\n");
    const auto outer = folder.write("outer.slang", "import inner;\nfloat f(float x) { return x; }\n");
    const Outcome<Module> module = make_compiler()->reflect({outer});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(lines(module.warnings()), ElementsAre("inner.slang:1:7 slang-E39019"));
    EXPECT_THAT(module.warnings().at(0).message, HasSubstr("add the 'static' modifier"));
}

// What kfgen puts behind the text meets the text's macros.
TEST(SlangWarnings, SayThatGradientsAreNotProtected) {
    const ScratchFolder folder;
    const std::string text = "[Differentiable] float f(float3 p, int i) { return p[i] * p[0]; }\n";
    for (const auto& [macro, count] :
         {std::pair("#define value 7\n", 0U), std::pair("#define kf_value 7\n", 1U)}) {
        const auto file = folder.write("elements.slang", macro + text);
        const Outcome<Module> module = make_compiler()->reflect({file});
        ASSERT_TRUE(module.ok()) << describe(module.errors());
        ASSERT_THAT(module.warnings(), SizeIs(count)) << describe(module.warnings());
        if (count == 0) continue;
        EXPECT_THAT(lines(module.warnings()), ElementsAre("elements.slang:0:0 gradient-unprotected"));
        EXPECT_THAT(module.warnings().at(0).message, HasSubstr("some of their gradients may be wrong: "));
    }
}

TEST(SlangWarnings, LeaveTheGradientsOfOtherModulesProtected) {
    const ScratchFolder folder;
    const std::string text = "(float3 p, int i) { return p[i] * p[0]; }\n";
    const auto sound = folder.write("sound.slang", "[Differentiable] float f" + text);
    const auto refused = folder.write("refused.slang", "#define kf_value 7\n[Differentiable] float g" + text);
    const Outcome<Module> module = make_compiler()->reflect({sound, refused});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(lines(module.warnings()), ElementsAre("refused.slang:0:0 gradient-unprotected"));
    for (const auto& [path, texts] : module.value().compiled) {
        const bool is_changed = texts.at(0).find("KfT kf_value") != std::string::npos;
        EXPECT_EQ(is_changed, path.ends_with("sound.slang")) << texts.at(0);
    }
    EXPECT_THAT(module.value().compiled, SizeIs(2));
}

TEST(SlangWarnings, AreThoseOfTheTextThatUsersWrote) {
    const ScratchFolder folder;
    // kfgen has the loop step 'i' in another form and gives 'a' a new name, which reads it.
    const auto file =
        folder.write("m.slang",
                     "[Differentiable]\nfloat3 f(float a, float3 v, int n)\n{\n    float late;\n"
                     "    [MaxIters(8)]\n    for (int8_t i = int8_t(n); i < 8; i++) { late = a; v = v * "
                     "late; }\n    return v * a;\n}\n"
                     "#warning here\n");
    const Outcome<Module> module = make_compiler()->reflect({file});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(lines(module.warnings()), ElementsAre("m.slang:9:2 slang-E15901"))
        << describe(module.warnings());
}

TEST(SlangWarnings, ComeWithErrors) {
    const ScratchFolder folder;
    const auto file = folder.write("m.slang", "#warning here\nfloat f() { return y; }\n");
    const Outcome<Module> module = make_compiler()->reflect({file});
    ASSERT_FALSE(module.ok());
    EXPECT_THAT(module.errors(), SizeIs(1));
    EXPECT_THAT(lines(module.warnings()), ElementsAre("m.slang:1:2 slang-E15901"));
}

TEST(SlangWarnings, OfKernelsAndSupportModulesAreNobodys) {
    const std::string bad = "float unset() { float never; return never; }\n#warning here\n";
    const ScratchFolder folder;
    const auto file = folder.write("m.slang", "import kf;\nfloat f() { return unset(); }\n");
    const auto compiler = make_compiler({}, {{"kf", "public " + bad}});
    const Outcome<Module> module = compiler->reflect({file});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(module.warnings(), IsEmpty());
    const Outcome<CompiledKernel> kernel = compiler->compile(
        {"k", "import m;\n" + bad + entry + "void k(uniform Args args) { args.x[0] = f(); }\n", {}},
        CodeTarget::spirv);
    ASSERT_TRUE(kernel.ok()) << describe(kernel.errors());
    EXPECT_THAT(kernel.warnings(), IsEmpty());
}

// A kernel's own part in them: what Slang finds in users' files only when it compiles.
TEST(SlangWarnings, ComeWithKernels) {
    const ScratchFolder folder;
    const auto file = folder.write("m.slang", "float offset = 2;\nfloat f(float x) { return x; }\n");
    const auto compiler = make_compiler();
    ASSERT_TRUE(compiler->reflect({file}).ok());
    const Outcome<CompiledKernel> kernel = compiler->compile(
        {"k", "import m;\n" + entry + "void k(uniform Args args) { args.x[0] = f(1); }\n", {}},
        CodeTarget::spirv);
    ASSERT_TRUE(kernel.ok()) << describe(kernel.errors());
    EXPECT_THAT(lines(kernel.warnings()), ElementsAre("m.slang:1:7 slang-E39019"));
}

}  // namespace
}  // namespace kf::gen
