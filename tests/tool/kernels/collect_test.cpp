// Tests which kernels a plan needs, and which are the same.
#include "kernels/collect.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::plan_of;

KernelSet collect(const std::string& call, const std::vector<Function>& functions,
                  const std::vector<CodeTarget>& targets = {CodeTarget::spirv}) {
    const Outcome<Plan> plan = plan_of(call, functions);
    Outcome<KernelSet> kernels = collect_kernels(plan.value(), targets);
    EXPECT_TRUE(kernels) << format_text(kernels.errors().front());
    return kernels.value();
}

const std::vector<Function> add{function_of("float", "add", {{"float", "x"}, {"float", "y"}})};
const std::vector<Function> shade{function_of("float3", "shade", {{"float3", "x"}})};

TEST(CollectTest, EachPassHasAContiguousAndAStridedKernel) {
    const KernelSet kernels =
        collect(R"({"function": "add", "args": {"x": "tensor[1]", "y": "value"}, "backward": true})", add);
    ASSERT_EQ(kernels.units.size(), 4u);
    EXPECT_EQ(kernels.calls[0][0].forward, (manifest::Pass{0, 1}));
    EXPECT_EQ(kernels.calls[0][0].backward, (manifest::Pass{2, 3}));
    EXPECT_EQ(kernels.units[3].name, "add.backward.strided");
    EXPECT_EQ(kernels.units[3].variant, manifest::Variant::strided);
}

TEST(CollectTest, ACallOfValuesHasNothingToStrideThrough) {
    const KernelSet kernels = collect(R"({"function": "add", "args": {"x": "value", "y": "value"}})", add);
    EXPECT_EQ(kernels.units.size(), 1u);
    EXPECT_EQ(kernels.calls[0][0].forward, (manifest::Pass{0, -1}));
    EXPECT_EQ(kernels.calls[0][0].backward, (manifest::Pass{-1, -1}));
}

TEST(CollectTest, ContiguousLayoutsLeaveTheStridedKernelOut) {
    const KernelSet kernels = collect(
        R"({"function": "shade", "args": {"x": {"kind": "tensor[1]", "layout": "contiguous"}},
            "result": {"kind": "tensor[1]", "layout": "contiguous"}})",
        shade);
    EXPECT_EQ(kernels.calls[0][0].forward, (manifest::Pass{0, -1}));
}

TEST(CollectTest, KernelsThatComeOutTheSameAreCompiledOnce) {
    // A flat index makes all contiguous calls alike, and float3 by element or by trailing extent is one read.
    const KernelSet kernels = collect(
        R"({"function": "shade", "args": {"x": ["tensor[1]", "tensor[2]", "tensor<float>[2]"]}})", shade);
    EXPECT_EQ(kernels.units.size(), 3u);
    const auto& calls = kernels.calls[0];
    EXPECT_EQ(calls[0].forward.contiguous, calls[1].forward.contiguous);
    EXPECT_EQ(calls[0].forward, calls[2].forward);
    EXPECT_NE(calls[0].forward.strided, calls[1].forward.strided);
}

TEST(CollectTest, OnlyLargeBlocksLieInUniformBuffersAndOnlyOnVulkan) {
    const auto emitted = [](const std::string& kind, CodeTarget target) {
        const KernelSet kernels = collect(R"({"function": "add", "args": {"x": ")" + kind + R"(", "y": ")" +
                                              kind + R"("}, "backward": true})",
                                          add, {CodeTarget::spirv, CodeTarget::cuda_source});
        return kernels.units[3].sources.at(target);
    };
    EXPECT_EQ(emitted("tensor[1]", CodeTarget::spirv).passing, manifest::Passing::value);
    EXPECT_EQ(emitted("tensor[3]", CodeTarget::spirv).passing, manifest::Passing::uniform);
    EXPECT_EQ(emitted("tensor[3]", CodeTarget::cuda_source).passing, manifest::Passing::value);
    EXPECT_EQ(emitted("tensor[3]", CodeTarget::spirv).records,
              emitted("tensor[3]", CodeTarget::cuda_source).records);
}

TEST(CollectTest, RowsAreWalkedWhereTheyCanBeLong) {
    const auto walks_rows = [](const std::string& x, const std::string& more) {
        const KernelSet kernels = collect(R"({"function": "add", "args": {"x": ")" + x +
                                              R"(", "y": "tensor[2]"}, "backward": true)" + more + "}",
                                          add);
        return kernels.calls[0][0].backward.rows >= 0;
    };
    EXPECT_TRUE(walks_rows("tensor[2]", ""));
    EXPECT_TRUE(walks_rows("value<float[24]>", ""));
    EXPECT_FALSE(walks_rows("value<float3>", "")) << "each row has three calls";
    EXPECT_FALSE(walks_rows("tensor[2]", R"(, "strict_broadcasting": true)")) << "calls share nothing";
    for (const auto& [threads, walks] :
         {std::pair{"64", false}, {"128", true}, {"192", false}, {"256", true}})
        EXPECT_EQ(walks_rows("tensor[2]", ", \"threads\": [" + std::string(threads) + "]"), walks)
            << threads << ": groups are made of whole subgroups of up to 128 lanes";
}

TEST(CollectTest, EveryRecordIsAFieldOfTheSource) {
    const KernelSet kernels = collect(
        R"({"function": "f", "args": {"a": "value", "n": "tensor[2]", "m": "value", "x": "tensor<half>[3]", "y": "tensor[2]"},
            "backward": true})",
        {function_of("double2", "f",
                     {{"half", "a"},
                      {"int8_t", "n"},
                      {"bool3", "m"},
                      {"half3", "x"},
                      {"float", "y", Direction::inout}})});
    ASSERT_EQ(kernels.units.size(), 5u) << "a pass that walks rows, too";
    for (const KernelUnit& unit : kernels.units) {
        const EmittedKernel& emitted = unit.sources.at(CodeTarget::spirv);
        ASSERT_EQ(emitted.records.size(), emitted.fields.size());
        for (const std::string& field : emitted.fields) {
            EXPECT_THAT(emitted.source.text, testing::HasSubstr(" " + field + ";")) << unit.name;
        }
    }
}

}  // namespace
}  // namespace kf::gen
