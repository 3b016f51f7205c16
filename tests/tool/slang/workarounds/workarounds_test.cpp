// Which of Slang's faults the Slang at hand has, by what its code computes: each workaround is needed, and
// helps.
#include "slang/workarounds/workarounds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tool/slang/scratch_folder.h"
#include "tool/slang/workarounds/fault_cases.h"
#include "vulkan/driver.h"

namespace kf::gen {
namespace {

struct Compiled {
    CompiledKernel kernel;
    Diagnostics errors;
};

std::string kernel_text(std::string_view module) {
    std::string text(module);
    if (text.find("measured(") == std::string::npos) {
        text +=
            "float measured(float x, int i, int j)\n"
            "{\n    var p = diffPair(x);\n    bwd_diff(f)(p, 1);\n    return p.d;\n}\n";
    }
    return text +
           "struct Args { float* x; }\n[shader(\"compute\")] [numthreads(1, 1, 1)]\n"
           "void k(uniform Args args)\n"
           "{\n    args.x[0] = measured(args.x[1], int(args.x[2]), int(args.x[3]));\n}\n";
}

std::unique_ptr<Compiler> compiler_with(std::vector<std::string> workarounds) {
    CompilerOptions options;
    options.workarounds = std::move(workarounds);
    return make_compiler(options);
}

Compiled compile(Compiler& compiler, const FaultCase& fault, const ScratchFolder& folder) {
    if (!fault.imported.empty()) {
        const Outcome<Module> other =
            compiler.reflect({folder.write("other.slang", std::string(fault.imported))});
        if (!other) return {{}, other.errors()};
    }
    Outcome<CompiledKernel> kernel =
        compiler.compile({"k", kernel_text(fault.module), {}}, CodeTarget::spirv);
    return kernel ? Compiled{std::move(kernel.value()), {}} : Compiled{{}, kernel.errors()};
}

/// Returns what the kernel computes, to three digits.
std::string run_on(driver::Device& device, const CompiledKernel& compiled) {
    manifest::Image image;
    image.format = "spirv";
    image.entry_point = "k";
    image.features = compiled.features;
    const auto bytes = std::as_bytes(std::span(compiled.code));
    image.bytes = std::vector<std::byte>(bytes.begin(), bytes.end());
    manifest::Kernel kernel;
    kernel.name = "k";
    kernel.layouts["vulkan"] = {compiled.block_size, {}, manifest::Passing::value};
    kernel.images.push_back(std::move(image));

    std::array<float, 4> numbers{-1, 1, 1, 1};
    const auto memory = device.allocate(sizeof(numbers));
    device.upload(memory, 0, std::as_bytes(std::span(numbers)));
    const std::array<driver::Use, 1> uses = {{{memory, true}}};
    const auto loaded = device.load_kernel(kernel);
    driver::Dispatch dispatch;
    dispatch.kernel = loaded.get();
    dispatch.groups = {1, 1, 1};
    dispatch.block = std::as_bytes(std::span(&memory->address, 1));
    dispatch.uses = uses;
    device.dispatch(dispatch);
    device.read_back(memory, 0, std::as_writable_bytes(std::span(numbers)));
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", static_cast<double>(numbers[0]));
    return text.data();
}

std::string outcome(driver::Device& device, const Compiled& compiled) {
    return compiled.errors.empty() ? run_on(device, compiled.kernel) : "refused";
}

std::string name_of(const FaultCase& fault) {
    std::string name(fault.workaround->name);
    name += "_" + std::string(fault.name);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

class WorkaroundsAtHand : public testing::TestWithParam<const Workaround*> {
protected:
    const Workaround& workaround_ = *GetParam();
};

/// What Slang makes of a case without and with its workaround. Slang's processes are forked, so all is
/// compiled before the device has its threads.
TEST_P(WorkaroundsAtHand, AreNeededAndHelp) {
    struct Tried {
        const FaultCase* fault;
        Compiled without;
        Compiled with;
    };
    const ScratchFolder folder;
    const auto without = compiler_with({});
    const auto with = compiler_with({std::string(workaround_.name)});
    const std::string tag = with->version();
    std::vector<Tried> tried;
    for (const FaultCase& fault : fault_cases()) {
        if (fault.workaround != &workaround_) continue;
        tried.push_back({&fault, compile(*without, fault, folder), compile(*with, fault, folder)});
    }
    ASSERT_FALSE(tried.empty()) << "add a case to fault_cases.cpp";

    const auto device = vulkan::open_vulkan(0, {});
    bool is_right = true;
    std::string outcomes;
    for (const Tried& one : tried) {
        const std::string result = outcome(*device, one.without);
        EXPECT_EQ(outcome(*device, one.with), one.fault->right)
            << "with the workaround, " << one.fault->name << " should be right:\n"
            << describe(one.with.errors);
        is_right = is_right && result == one.fault->right;
        outcomes += std::string(one.fault->name) + ": " + result + ", should be " +
                    std::string(one.fault->right) + "\n" + describe(one.without.errors);
        RecordProperty(name_of(*one.fault), result);
    }
    RecordProperty("slang", tag);
    if (is_needed(workaround_, slang_version(tag))) {
        EXPECT_FALSE(is_right) << "Slang " << tag << " is right without the workaround for '"
                               << workaround_.name
                               << "': set .fixed, or .since, where tool/slang/workarounds defines it "
                                  "(docs/slang_faults.md)\n"
                               << outcomes;
    } else {
        EXPECT_TRUE(is_right) << "Slang " << tag << " needs the workaround for '" << workaround_.name
                              << "': correct .since and .fixed where tool/slang/workarounds defines it "
                                 "(docs/slang_faults.md)\n"
                              << outcomes;
    }
}

INSTANTIATE_TEST_SUITE_P(All, WorkaroundsAtHand,
                         testing::ValuesIn(workarounds().begin(), workarounds().end()),
                         [](const testing::TestParamInfo<const Workaround*>& one) {
                             std::string name(one.param->name);
                             std::erase(name, ' ');
                             return name;
                         });

}  // namespace
}  // namespace kf::gen
