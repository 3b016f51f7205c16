// What is refused of a compiler's layout: the runtime would write where the kernel doesn't read.
#include "artifact/assemble.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using ::testing::HasSubstr;

/// add(x: tensor[1], y: value), as compiled where every member lies in its place.
struct Compiled {
    Plan plan;
    KernelSet kernels;
    std::vector<CompiledUnit> units;

    Compiled()
        : plan(test::plan_of(R"({"function": "add", "args": {"x": "tensor[1]", "y": "value"}})",
                             {test::function_of("float", "add", {{"float", "x"}, {"float", "y"}})})
                   .value()),
          kernels(collect_kernels(plan, {CodeTarget::cuda_source}).value()) {
        for (const KernelUnit& unit : kernels.units) {
            const EmittedKernel& emitted = unit.sources.at(CodeTarget::cuda_source);
            CompiledKernel kernel;
            for (std::size_t i = 0; i < emitted.records.size(); ++i) {
                const bool is_value = emitted.records[i].kind == manifest::RecordKind::value;
                const manifest::RecordLayout layout = manifest::record_layout(emitted.records[i]);
                kernel.block.push_back({emitted.fields[i], kernel.block_size, is_value ? 4 : layout.end});
                for (const manifest::RecordMember& member : layout.members)
                    kernel.block.push_back(
                        {emitted.fields[i] + "." + member.name, kernel.block_size + member.offset, 0});
                kernel.block_size += is_value ? 8 : layout.size();
            }
            units.push_back({{CodeTarget::cuda_source, kernel}});
        }
    }

    [[nodiscard]] CompiledKernel& kernel() { return units[0].at(CodeTarget::cuda_source); }
    [[nodiscard]] FieldLayout& field(const std::string& name) {
        return *std::find_if(kernel().block.begin(), kernel().block.end(),
                             [&](const FieldLayout& known) { return known.name == name; });
    }
    [[nodiscard]] Outcome<manifest::Manifest> assembled() const {
        return assemble(plan, kernels, units, {}, {});
    }
};

TEST(AssembleTest, RecordsLieWhereTheCompilerPutsThem) {
    const Compiled compiled;
    const Outcome<manifest::Manifest> manifest = compiled.assembled();
    ASSERT_TRUE(manifest) << format_text(manifest.errors().front());
    const manifest::Kernel& kernel = manifest.value().kernels.at(0);
    EXPECT_EQ(kernel.layouts.at("cuda").offsets, (std::vector<std::int64_t>{0, 16, 32, 40}));
    EXPECT_EQ(kernel.records, compiled.kernels.units[0].sources.at(CodeTarget::cuda_source).records);
}

TEST(AssembleTest, AMemberInAnotherPlaceIsAnError) {
    Compiled compiled;
    compiled.field("data_x.step").offset += 4;
    const Outcome<manifest::Manifest> manifest = compiled.assembled();
    ASSERT_FALSE(manifest);
    EXPECT_EQ(manifest.errors().front().id, "internal-layout");
    EXPECT_THAT(manifest.errors().front().message,
                HasSubstr("the compiler has 'data_x.step' in another place than the runtime"));
}

TEST(AssembleTest, AMissingFieldIsAnError) {
    Compiled compiled;
    compiled.field("data_x").name = "data_z";
    const Outcome<manifest::Manifest> manifest = compiled.assembled();
    ASSERT_FALSE(manifest);
    EXPECT_THAT(manifest.errors().front().message, HasSubstr("the compiler reports no field 'data_x'"));
}

}  // namespace
}  // namespace kf::gen
