// What `kfgen explain` chooses and prints, of kernels that nobody compiles.
#include "run/explanation.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ExplanationTest : public testing::Test {
protected:
    ExplanationTest() {
        const Spec spec = test::spec_of(R"({"function": "blend", "args": {"a": "tensor[1]", "t": "value"},
              "variants": {"small": {"threads": [64]}}},
             {"function": "blended", "args": {"x": "value"}})");
        Module module;
        module.module_names = {"functions"};
        module.functions = {function_of("float", "blend", {{"float", "a"}, {"float", "t"}}),
                            function_of("float", "blended", {{"float", "x"}})};
        const Outcome<Plan> plan = resolve(spec, module);
        if (!plan) throw std::runtime_error(format_text(plan.errors().front()));
        plan_ = plan.value();
        kernels_ = collect_kernels(plan_, {CodeTarget::spirv, CodeTarget::cuda_source}).value();
        options_.spec = "m.kf.json";
        options_.explain.function = "blend";
    }

    [[nodiscard]] std::vector<std::string> chosen() const {
        const auto numbers = chosen_kernels(plan_, kernels_, options_);
        if (!numbers) return {format_text(numbers.errors().front())};
        std::vector<std::string> names;
        for (const std::int64_t number : numbers.value()) names.push_back(unit(number).name);
        return names;
    }

    [[nodiscard]] const KernelUnit& unit(std::int64_t number) const {
        return kernels_.units.at(static_cast<std::size_t>(number));
    }

    /// The first kernel, as if it had been compiled.
    [[nodiscard]] MadeKernels made() const {
        MadeKernel kernel{0, unit(0)};
        CompiledKernel code;
        code.block_size = 16;
        code.block = {{"launch", 0, 12}, {"launch.total", 0, 8}, {"launch.groups", 8, 4}};
        kernel.compiled[CodeTarget::spirv] = code;
        code.code = "#define PRELUDE\n" + std::string(cuda_prelude_end) + "__global__ void f() {}";
        kernel.compiled[CodeTarget::cuda_source] = code;
        kernel.kernel.name = kernel.unit.name;
        kernel.kernel.group_size = kernel.unit.group_size;
        kernel.kernel.layouts = {{"cuda", {16, {}, manifest::Passing::value}},
                                 {"vulkan", {16, {}, manifest::Passing::value}}};
        manifest::Image image;
        image.format = "cubin";
        image.architecture = "sm_90";
        image.entry_point = "f";
        kernel.kernel.images = {image};
        kernel.cuda = {{"sm_90",
                        {"cubin", "// PTX of f\n",
                         "ptxas info    : Function properties for f\n"
                         "    128 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads\n"
                         "ptxas info    : Used 40 registers, used 0 barriers, 512 bytes smem\n"}}};
        return {plan_, kernels_.calls, {kernel}};
    }

    Plan plan_;
    KernelSet kernels_;
    Options options_;
};

TEST_F(ExplanationTest, ChoosesTheFunctionsKernelsWithThoseOfItsVariants) {
    EXPECT_THAT(chosen(), ElementsAre("blend.forward.contiguous", "blend.forward.strided",
                                      "blend.forward.contiguous", "blend.forward.strided"));
    options_.explain.function = "blend.options(variant=small)";
    const auto numbers = chosen_kernels(plan_, kernels_, options_);
    ASSERT_TRUE(numbers);
    ASSERT_EQ(numbers.value().size(), 2U);
    for (const std::int64_t number : numbers.value()) EXPECT_EQ(unit(number).group_size[0], 64U);
    options_.explain.function = "blended";
    EXPECT_THAT(chosen(), ElementsAre("blended.forward.contiguous"));
}

TEST_F(ExplanationTest, ChoosesByNumbersAndPartsOfNames) {
    options_.explain.kernels = {"1"};
    EXPECT_THAT(chosen(), ElementsAre("blend.forward.strided"));
    options_.explain.kernels = {"contiguous"};
    EXPECT_THAT(chosen(), ElementsAre("blend.forward.contiguous", "blend.forward.contiguous"));
    options_.explain.kernels = {"forward.strided", "1"};
    EXPECT_THAT(chosen(), ElementsAre("blend.forward.strided", "blend.forward.strided"))
        << "named twice, shown once";
}

TEST_F(ExplanationTest, SaysWhichFunctionsAndKernelsThereAre) {
    options_.explain.function = "blent";
    EXPECT_THAT(chosen(), ElementsAre("m.kf.json: error: the spec has no function 'blent' [explain-unknown]\n"
                                      "    note: did you mean 'blend'?\n"
                                      "    note: functions: blend, blended"));
    options_.explain.function = "blended";
    for (const char* kernel : {"backward", "0", "forw"}) {
        options_.explain.kernels = {kernel};
        const std::string number = std::to_string(kernels_.calls[1][0].forward.contiguous);
        EXPECT_THAT(chosen(), ElementsAre("m.kf.json: error: 'blended' has no kernel '" +
                                          std::string(kernel) + "' [explain-unknown]\n    note: kernel " +
                                          number + ": blended.forward.contiguous"));
    }
}

TEST_F(ExplanationTest, PrintsOverloadsAndWhatAKernelTakes) {
    options_.explain.shown = {Shown::summary};
    const std::string text = explanation(made(), options_.explain);
    EXPECT_THAT(text,
                testing::StartsWith("blend, 1 overload\n"
                                    "  (a: tensor<float>[1], t: value<float>) -> tensor<float>[1], rank 1\n"
                                    "    forward: kernels 0 (contiguous), 1 (strided)\n"
                                    "blend.options(variant=small), 1 overload\n"));
    EXPECT_THAT(text, Not(HasSubstr("blended")));
    EXPECT_THAT(text, HasSubstr("\n\nkernel 0: blend.forward.contiguous\n"
                                "  group 256 x 1 x 1 threads, cuda block 16 bytes, vulkan block 16 bytes\n"));
    EXPECT_THAT(text,
                testing::EndsWith(
                    "  sm_90: 40 registers, 128 bytes of stack, 24 spilled, 20 read back, 512 of shared "
                    "memory\n"
                    "  block on vulkan, cuda\n"
                    "    offset  bytes  field\n"
                    "         0     12  launch\n"
                    "         0      8  launch.total\n"
                    "         8      4  launch.groups\n"));
}

TEST_F(ExplanationTest, PrintsBlocksApartWhereTargetsDiffer) {
    options_.explain.shown = {Shown::summary};
    MadeKernels other = made();
    other.kernels[0].compiled[CodeTarget::cuda_source].block[1].offset = 4;
    other.kernels[0].cuda[0].second.log.clear();
    const std::string text = explanation(other, options_.explain);
    EXPECT_THAT(text, HasSubstr("  block on cuda\n"));
    EXPECT_THAT(text, HasSubstr("  block on vulkan\n"));
    EXPECT_THAT(text, HasSubstr("  sm_90: NVRTC says nothing of registers\n"));
}

TEST_F(ExplanationTest, PrintsTextsBelowTheirTitles) {
    options_.explain.shown = {Shown::code, Shown::ptx};
    const std::string title = "\n-- kernel 0: blend.forward.contiguous, ";
    EXPECT_THAT(
        explanation(made(), options_.explain),
        testing::EndsWith(title + "CUDA\n__global__ void f() {}\n" + title + "PTX for sm_90\n// PTX of f\n"));
    options_.explain.shown = {Shown::slang};
    MadeKernels kernels = made();
    auto& sources = kernels.kernels[0].unit.sources;
    sources.at(CodeTarget::cuda_source).source.text = sources.at(CodeTarget::spirv).source.text = "one\n";
    EXPECT_THAT(explanation(kernels, options_.explain), testing::EndsWith(title + "Slang\none\n"));
    sources.at(CodeTarget::cuda_source).source.text = "other";
    EXPECT_THAT(explanation(kernels, options_.explain),
                testing::EndsWith(title + "Slang for vulkan\none\n" + title + "Slang for cuda\nother\n"));
}

}  // namespace
}  // namespace kf::gen
