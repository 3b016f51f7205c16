// Tests when kfgen's own modules are loaded as they were compiled, and when by their texts.
#include <gtest/gtest.h>

#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

Outcome<Module> reflect_with(const std::vector<SupportModule>& modules) {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, modules);
    return compiler->reflect({folder.write("sample.slang", "import kf;\nvoid f(Tensor<float, 1> x) {}\n")});
}

TEST(CompiledModules, AreLoadedInsteadOfTheirTexts) {
    std::vector<SupportModule> modules = support_modules();
    for (SupportModule& module : modules) module.text = "this is no module";
    const Outcome<Module> reflected = reflect_with(modules);
    ASSERT_TRUE(reflected) << describe(reflected.errors());
    EXPECT_EQ(function_named(reflected.value(), "f").parameters.at(0).type.kind, TypeKind::tensor);
}

TEST(CompiledModules, ThoseOfAnotherReleaseAreNotLoaded) {
    const std::string other = compiled_head("2020.1") + "bytes of another form";
    std::vector<SupportModule> modules = support_modules();
    for (SupportModule& module : modules) module.compiled = other;
    EXPECT_TRUE(reflect_with(modules));
    for (SupportModule& module : modules) module.text = "this is no module";
    EXPECT_FALSE(reflect_with(modules));
}

}  // namespace
}  // namespace kf::gen
