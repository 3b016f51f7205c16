// What modules leave to linking, and kernels that are linked with values for it.
#include <gmock/gmock.h>

#include <algorithm>

#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;

const std::string left_open = R"(extern static const int N;
namespace ns { extern static const float K = 1.5; }
static const int own = 3;
interface I { static float get(); }
struct A : I, I2<int> { static float get() { return 10; } }
struct B : I { static float get() { return 20; } }
extern struct T : I;
extern struct U : I, I2<int> = A;
interface I2<X> { }
float sum(float x[N]) { return x[0] + x[N - 1]; }
float wide(vector<float, N> x) { return x[0]; }
float value(float x) { return x * N + ns.K + T.get(); }
)";

KernelSource linked_kernel(const std::string& given) {
    KernelSource source{
        "kern",
        "import main;\nstruct Block { float* x; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n"
        "void kern(uniform Block block) { block.x[0] = value(block.x[1]); }\n",
        {"spec.kf.json", 3, 5}};
    source.values = given;
    return source;
}

const std::string given_values =
    "import main;\nexport static const int N = 4321;\nexport struct T : I = B;\n"
    "namespace ns { export static const float K = 875.5; }\n";

/// What is behind Slang's own prelude, which is long.
std::string own_code(const CompiledKernel& kernel) {
    return kernel.code.substr(std::min(kernel.code.find(cuda_prelude_end), kernel.code.size()));
}

class LinkTimeTest : public testing::Test {
protected:
    std::unique_ptr<Compiler> reflect(const CompilerOptions& options = {}, const std::string& given = {}) {
        auto compiler = make_compiler(options);
        Outcome<Module> module = compiler->reflect({file_}, given);
        EXPECT_TRUE(module.ok()) << describe(module.errors());
        EXPECT_TRUE(module.warnings().empty()) << describe(module.warnings());
        if (module) module_ = std::move(module.value());
        return compiler;
    }

    ScratchFolder folder_;
    std::filesystem::path file_ = folder_.write("main.slang", left_open);
    Module module_;
};

TEST_F(LinkTimeTest, DeclarationsHaveTheirTypesAndPlaces) {
    reflect();
    ASSERT_EQ(module_.link.size(), 4U);
    EXPECT_EQ(module_.link[0].name, "N");
    EXPECT_EQ(module_.link[0].type.name, "int");
    EXPECT_FALSE(module_.link[0].has_default);
    EXPECT_EQ(module_.link[0].location, (Location{file_.string(), 1, 25}));
    EXPECT_EQ(module_.link[1].name, "ns.K");
    EXPECT_TRUE(module_.link[1].has_default);
    EXPECT_FALSE(module_.link[2].is_constant());
    EXPECT_EQ(module_.link[2].interfaces, "I");
    EXPECT_EQ(module_.link[3].interfaces, "I, I2<int>");
    EXPECT_TRUE(module_.link[3].has_default);
}

TEST_F(LinkTimeTest, SizesAreThoseOfTheLinkedProgram) {
    reflect();
    const Type unknown = function_named(module_, "sum").parameters.front().type;
    EXPECT_EQ(unknown.link_extent, "N");
    EXPECT_EQ(unknown.extent, 0);
    reflect({}, "export static const int N = 5;\n");
    const Type known = function_named(module_, "sum").parameters.front().type;
    EXPECT_EQ(known.link_extent, "N");
    EXPECT_EQ(known.extent, 5);
    EXPECT_EQ(known.name, "float[5]");
    const Type vector = function_named(module_, "wide").parameters.front().type;
    EXPECT_EQ(vector.kind, TypeKind::other);
    EXPECT_FALSE(vector.link_extent.empty());
}

TEST_F(LinkTimeTest, KernelsHaveTheirOwnValues) {
    const auto compiler = reflect();
    const auto code = [&](const std::string& given) {
        const Outcome<CompiledKernel> made = compiler->compile(linked_kernel(given), CodeTarget::cuda_source);
        EXPECT_TRUE(made) << describe(made.errors());
        return made ? own_code(made.value()) : std::string();
    };
    const std::string first = code(given_values);
    EXPECT_THAT(first, HasSubstr("4321.0f"));
    EXPECT_THAT(first, HasSubstr("875.5f"));
    EXPECT_THAT(first, HasSubstr("20.0f"));
    const std::string second =
        code("import main;\nexport static const int N = 17;\nexport struct T : I = A;\n");
    EXPECT_THAT(second, HasSubstr("17.0f"));
    EXPECT_THAT(second, HasSubstr("1.5f"));
    EXPECT_THAT(second, HasSubstr("10.0f"));
}

TEST_F(LinkTimeTest, WhatHasNoValueIsNamedAtItsDeclaration) {
    const auto compiler = reflect();
    for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
        const Outcome<CompiledKernel> made = compiler->compile(linked_kernel({}), target);
        ASSERT_FALSE(made);
        ASSERT_EQ(made.errors().size(), 2U) << describe(made.errors());
        EXPECT_EQ(made.errors()[0].id, "link-missing");
        EXPECT_EQ(made.errors()[0].location, (Location{file_.string(), 1, 25}));
        EXPECT_THAT(made.errors()[0].message, HasSubstr("the link-time constant 'N' has no value"));
        EXPECT_EQ(made.errors()[1].id, "link-missing");
        EXPECT_EQ(made.errors()[1].location.line, 7);
        EXPECT_THAT(made.errors()[1].message, HasSubstr("the link-time type 'T' has no value"));
    }
}

TEST_F(LinkTimeTest, LinkedFilesGiveValuesAndAreRead) {
    CompilerOptions options;
    options.linked = {
        folder_.write("more.slang",
                      "import main;\nstatic const int twice = 2;\nexport static const int N = 2000 + twice;\n"
                      "struct Own : I { static float get() { return 77; } }\nexport struct T : I = Own;\n")};
    const auto compiler = reflect(options);
    EXPECT_THAT(module_.sources, Contains(Key(options.linked.front().string())));
    ASSERT_EQ(module_.link.size(), 6U);
    EXPECT_TRUE(module_.link[4].gives);
    EXPECT_EQ(function_named(module_, "sum").parameters.front().type.extent, 2002);
    EXPECT_EQ(module_.modules.size(), 1U) << "calls can't name it";
    const Outcome<CompiledKernel> made = compiler->compile(linked_kernel({}), CodeTarget::cuda_source);
    ASSERT_TRUE(made) << describe(made.errors());
    EXPECT_THAT(own_code(made.value()), HasSubstr("2002.0f"));
    EXPECT_THAT(own_code(made.value()), HasSubstr("77.0f"));

    options.linked.push_back(folder_.path() / "none.slang");
    const Outcome<Module> missing = make_compiler(options)->reflect({file_});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.errors().front().id, "slang-module-not-found");
}

TEST_F(LinkTimeTest, ConformancesDecideWhatStandsBehindAnInterface) {
    const auto shapes = folder_.write(
        "shapes.slang",
        "[anyValueSize(8)] interface IShape { float area(); }\n"
        "struct Square : IShape { float side; float area() { return side * 1234; } }\n"
        "struct Circle : IShape { float radius; float area() { return radius * 5678; } }\n"
        "float area(uint id, float size) { return createDynamicObject<IShape>(id, size).area(); }\n");
    const auto compiler = make_compiler();
    ASSERT_TRUE(compiler->reflect({shapes}));
    KernelSource source{
        "kern",
        "import shapes;\nstruct Block { float* x; uint id; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n"
        "void kern(uniform Block block) { block.x[0] = area(block.id, block.x[1]); }\n",
        {}};
    source.conformances = {{"IShape", "Circle", 41}};
    const Outcome<CompiledKernel> one = compiler->compile(source, CodeTarget::cuda_source);
    ASSERT_TRUE(one) << describe(one.errors());
    EXPECT_THAT(own_code(one.value()), HasSubstr("5678"));
    EXPECT_THAT(own_code(one.value()), testing::Not(HasSubstr("1234")));
    source.conformances.push_back({"IShape", "Square", 42});
    const Outcome<CompiledKernel> both = compiler->compile(source, CodeTarget::cuda_source);
    ASSERT_TRUE(both) << describe(both.errors());
    EXPECT_THAT(own_code(both.value()), HasSubstr("5678"));
    EXPECT_THAT(own_code(both.value()), HasSubstr("1234"));
    EXPECT_TRUE(compiler->compile(source, CodeTarget::spirv));
}

TEST(KernelSource, AllThatDecidesItsCodeIsInItsText) {
    const KernelSource source = linked_kernel({});
    KernelSource other = source;
    other.origin.line = 9;
    EXPECT_EQ(source.code_text(), other.code_text());
    other.values = "export static const int N = 1;\n";
    EXPECT_NE(source.code_text(), other.code_text());
    other = source;
    other.conformances = {{"I", "A", 1}};
    const std::string first = other.code_text();
    EXPECT_NE(source.code_text(), first);
    other.conformances[0].id = 2;
    EXPECT_NE(other.code_text(), first);
}

}  // namespace
}  // namespace kf::gen
