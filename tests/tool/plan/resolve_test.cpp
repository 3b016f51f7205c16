// Tests planning: binding rules, variants, strategies and their errors.
#include "plan/resolve.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Gradient;
using manifest::Role;
using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// One kind given to f(P x) -> P, and what becomes of it: the call's rank, or an error's id.
struct FeedRow {
    std::string parameter;
    std::string kind;
    std::int64_t rank;  // -1: an error
    std::string error;
    std::vector<std::int64_t> trailing = {};
};

void PrintTo(const FeedRow& row, std::ostream* out) { *out << row.kind << " to " << row.parameter; }

class FeedTest : public testing::TestWithParam<FeedRow> {};

TEST_P(FeedTest, GivesTheCallItsRank) {
    const FeedRow& row = GetParam();
    const Outcome<Plan> plan = plan_of(R"({"function": "f", "args": {"x": ")" + row.kind + R"("}})",
                                       {function_of(row.parameter, "f", {{row.parameter, "x"}})});
    if (row.rank < 0) {
        EXPECT_THAT(ids(plan), ElementsAre(row.error));
        return;
    }
    ASSERT_TRUE(plan) << format_text(plan.errors().front());
    const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
    EXPECT_EQ(call.rank, row.rank);
    EXPECT_EQ(call.arguments.at(0).host.call_rank, row.rank);
    EXPECT_EQ(call.arguments.at(0).host.trailing, row.trailing);
    const manifest::Argument& result = call.arguments.at(1).host;
    EXPECT_EQ(result.role, Role::result);
    EXPECT_EQ(passes_tensor(result), row.rank != 0);
    EXPECT_EQ(result.rank, row.rank);
    EXPECT_EQ(result.trailing, row.trailing);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FeedTest,
    testing::Values(
        FeedRow{"float", "value", 0, ""}, FeedRow{"float", "value<float>", 0, ""},
        FeedRow{"float", "tensor[0]", 0, ""}, FeedRow{"float", "tensor[1]", 1, ""},
        FeedRow{"float", "tensor[4]", 4, ""}, FeedRow{"float", "tensor<float>[2]", 2, ""},
        FeedRow{"float", "tensor<float3>[1]", 2, ""}, FeedRow{"float", "tensor<float3>[0]", 1, ""},
        FeedRow{"float", "tensor<int>[1]", -1, "argument-type"},
        FeedRow{"float", "tensor<double>[1]", -1, "argument-type"},
        FeedRow{"float", "tensor<half>[1]", -1, "argument-type"},
        FeedRow{"float", "value<int>", -1, "argument-type"},
        FeedRow{"float", "tensor<Ray>[1]", -1, "kind-element"}, FeedRow{"float", "value<float3>", 1, ""},
        FeedRow{"float2x3", "value", 0, "", {2, 3}}, FeedRow{"float2x3", "tensor[1]", 1, "", {2, 3}},
        FeedRow{"float2x3", "tensor<float3>[1]", 0, "", {2, 3}},
        FeedRow{"float2x3", "tensor<float3>[2]", 1, "", {2, 3}},
        FeedRow{"float2x3", "tensor<float>[3]", 1, "", {2, 3}},
        FeedRow{"float2x3", "tensor<float>[1]", -1, "argument-rank"},
        FeedRow{"float2x3", "tensor<float2>[2]", -1, "argument-type"},
        FeedRow{"float2x3", "tensor<float3x2>[1]", -1, "argument-type"},
        FeedRow{"float3", "tensor<float2x3>[1]", 2, "", {3}}, FeedRow{"float[4]", "value", 0, "", {4}},
        FeedRow{"float[4]", "tensor[2]", 2, "", {4}}, FeedRow{"float[4]", "tensor<float4>[1]", 1, "", {4}},
        FeedRow{"float2[3]", "tensor<float2>[1]", 0, "", {3, 2}},
        FeedRow{"float2[3]", "tensor<float2>[2]", 1, "", {3, 2}},
        FeedRow{"float2[3]", "tensor<float>[4]", 2, "", {3, 2}},
        FeedRow{"int[2][3]", "tensor[1]", 1, "", {2, 3}},
        FeedRow{"int[2][3]", "tensor<int>[2]", 0, "", {2, 3}},
        FeedRow{"int[2][3]", "tensor<int[3]>[2]", 1, "", {2, 3}},
        FeedRow{"int[2][3]", "tensor<int[2]>[1]", -1, "argument-type"},
        FeedRow{"float3", "value", 0, "", {3}}, FeedRow{"float3", "tensor[1]", 1, "", {3}},
        FeedRow{"float3", "tensor<float3>[2]", 2, "", {3}}, FeedRow{"float3", "tensor<float>[1]", 0, "", {3}},
        FeedRow{"float3", "tensor<float>[2]", 1, "", {3}},
        FeedRow{"float3", "tensor<float>[0]", -1, "argument-rank"},
        FeedRow{"float3", "value<float>", -1, "argument-rank"},
        FeedRow{"float3", "tensor<float2>[1]", -1, "argument-type"},
        FeedRow{"float3", "tensor<half3>[1]", -1, "argument-type"}, FeedRow{"half", "tensor[1]", 1, ""},
        FeedRow{"half", "tensor<float>[1]", -1, "argument-type"}, FeedRow{"bool", "tensor[2]", 2, ""},
        FeedRow{"uint8_t4", "tensor<uint8_t>[3]", 2, "", {4}},
        FeedRow{"int64_t", "tensor<uint64_t>[1]", -1, "argument-type"},
        FeedRow{"double2", "tensor[1]", 1, "", {2}}));

TEST(ResolveTest, AlternativesMultiplyIntoOverloads) {
    const auto plan = plan_of(
        R"({"function": "add", "args": {"x": ["value", "tensor[1]", "tensor[2]"], "y": ["value", "tensor[1]"]}})",
        {function_of("float", "add", {{"float", "x"}, {"float", "y"}})});
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan.value().functions.size(), 1u);
    std::vector<std::int64_t> ranks;
    for (const PlannedCall& call : plan.value().functions[0].calls) ranks.push_back(call.rank);
    EXPECT_THAT(ranks, ElementsAre(0, 1, 1, 1, 2, 2));
}

TEST(ResolveTest, DimensionsAlignAtTheLastUnlessMapped) {
    const auto plan = plan_of(
        R"({"function": "f", "args": {"x": "tensor[1]", "y": "tensor[3]", "z": {"kind": "tensor[2]", "map": [2, 0]}}})",
        {function_of("float", "f", {{"float", "x"}, {"float", "y"}, {"float", "z"}})});
    ASSERT_TRUE(plan);
    const auto& arguments = plan.value().functions[0].calls[0].arguments;
    EXPECT_THAT(arguments[0].host.map, ElementsAre(2));
    EXPECT_THAT(arguments[1].host.map, ElementsAre(0, 1, 2));
    EXPECT_THAT(arguments[2].host.map, ElementsAre(2, 0));
    EXPECT_THAT(arguments[3].host.map, ElementsAre(0, 1, 2));
}

TEST(ResolveTest, AMapCanRaiseTheCallsRank) {
    const auto plan = plan_of(
        R"({"function": "f", "args": {"x": {"kind": "tensor[1]", "map": [0]}, "y": {"kind": "tensor[1]", "map": [1]}}})",
        {function_of("float", "f", {{"float", "x"}, {"float", "y"}})});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan.value().functions[0].calls[0].rank, 2);
}

TEST(ResolveTest, AMapOfAnotherLengthIsAnError) {
    const std::vector<Function> functions{function_of("float", "f", {{"float", "x"}})};
    EXPECT_THAT(
        ids(plan_of(R"({"function": "f", "args": {"x": {"kind": "tensor[2]", "map": [0]}}})", functions)),
        ElementsAre("argument-map"));
}

TEST(ResolveTest, AnOutputIsNeverBroadcast) {
    const std::vector<Function> functions{
        function_of("void", "f", {{"float", "x"}, {"float", "y", Direction::out}})};
    const auto plan =
        plan_of(R"({"function": "f", "args": {"x": "tensor[2]", "y": "tensor[1]"}})", functions);
    ASSERT_THAT(ids(plan), ElementsAre("output-broadcast"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("'y'"));
    EXPECT_EQ(plan.errors()[0].location.file, "functions.kf.json");
    EXPECT_GT(plan.errors()[0].location.column, 0);
    EXPECT_THAT(ids(plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}})", functions)),
                ElementsAre("output-broadcast"));
    EXPECT_TRUE(plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "y": "tensor[2]"}})", functions));
}

TEST(ResolveTest, AutomaticOutputsHaveTheCallsRank) {
    const Function split = function_of("float", "split", {{"float", "x"}, {"float3", "y", Direction::out}});
    const auto plan = plan_of(R"({"function": "split", "args": {"y": "auto",
        "x": ["value", "tensor[1]", {"kind": "tensor[1]", "map": [1]}]}, "result": ["auto"]})",
                              {split});
    ASSERT_TRUE(plan);
    const std::vector<std::int64_t> ranks{0, 1, 2};
    const auto& calls = plan.value().functions.at(0).calls;
    ASSERT_EQ(calls.size(), ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        EXPECT_EQ(calls[i].rank, ranks[i]);
        for (const std::size_t output : {1U, 2U}) {
            const manifest::Argument& host = calls[i].arguments.at(output).host;
            EXPECT_EQ(passes_tensor(host), ranks[i] != 0);
            EXPECT_EQ(host.rank, ranks[i]);
            EXPECT_EQ(host.call_rank, ranks[i]);
        }
    }
    // A result of its own kind counts, and so does a way to combine.
    const auto wide = plan_of(R"({"function": "split", "args": {"x": "tensor[1]",
        "y": {"kind": "auto", "accumulate": "sum"}}, "result": "tensor[2]"})",
                              {split});
    ASSERT_TRUE(wide);
    const manifest::Argument& y = wide.value().functions.at(0).calls.at(0).arguments.at(1).host;
    EXPECT_EQ(y.rank, 2);
    EXPECT_EQ(y.accumulate, manifest::Accumulate::sum);
}

TEST(ResolveTest, OnlyWholeOutputsAreAutomatic) {
    const Function move = function_of(
        "float", "move", {{"float", "x", Direction::inout}, {"float2", "y", Direction::out}, {"float", "k"}});
    for (const std::string kinds :
         {R"("x": "auto", "y": "auto", "k": "value")", R"("x": "value", "y": "auto", "k": "auto")",
          R"("x": "value", "y": {"fields": {"x": "auto", "y": "value"}}, "k": "value")"}) {
        const auto plan = plan_of(R"({"function": "move", "args": {)" + kinds + "}}", {move});
        ASSERT_THAT(ids(plan), ElementsAre("kind-not-supported"));
        EXPECT_THAT(plan.errors()[0].message,
                    HasSubstr("kind 'auto' is for whole results and out parameters"));
        EXPECT_GT(plan.errors()[0].location.column, 0);
    }
}

TEST(ResolveTest, UnknownNamesComeWithASuggestion) {
    const std::vector<Function> functions{
        function_of("float", "polynomial", {{"float", "x"}, {"float", "scale"}})};
    const auto function =
        plan_of(R"({"function": "polynomal", "args": {"x": "value", "scale": "value"}})", functions);
    ASSERT_THAT(ids(function), ElementsAre("function-unknown"));
    EXPECT_THAT(function.errors()[0].notes, testing::Contains(HasSubstr("polynomial")));
    const auto argument =
        plan_of(R"({"function": "polynomial", "args": {"x": "value", "scal": "value"}})", functions);
    ASSERT_THAT(ids(argument), ElementsAre("argument-unknown", "argument-missing"));
    EXPECT_THAT(argument.errors()[0].notes, testing::Contains(HasSubstr("scale")));
}

TEST(ResolveTest, OverloadsAreToldApartByParametersAndElementTypes) {
    const std::vector<Function> functions{function_of("float", "f", {{"float", "x"}}),
                                          function_of("int", "f", {{"int", "x"}}),
                                          function_of("float", "f", {{"float", "x"}, {"float", "y"}})};
    const auto by_type = plan_of(R"({"function": "f", "args": {"x": "tensor<int>[1]"}})", functions);
    ASSERT_TRUE(by_type);
    EXPECT_EQ(by_type.value().functions[0].calls[0].arguments[0].type.name, "int");
    EXPECT_TRUE(plan_of(R"({"function": "f", "args": {"x": "value", "y": "value"}})", functions));
    const auto ambiguous = plan_of(R"({"function": "f", "args": {"x": "tensor[1]"}})", functions);
    ASSERT_THAT(ids(ambiguous), ElementsAre("function-ambiguous"));
    EXPECT_THAT(ambiguous.errors()[0].message, testing::EndsWith("overloads of 'f': x is tensor[1]"));
    EXPECT_THAT(ambiguous.errors()[0].notes,
                testing::IsSupersetOf({HasSubstr("float f(float x)"), HasSubstr("int f(int x)")}));
}

TEST(ResolveTest, BackwardMarksInputsAndOutputs) {
    const auto plan = plan_of(
        R"({"function": "f", "args": {"n": "value", "a": {"kind": "value", "grad": true}, "b": "value", "c": {"kind": "value", "grad": false}, "x": "tensor[1]"},
            "backward": true})",
        {function_of("float", "f",
                     {{"int", "n"},
                      {"float", "a"},
                      {"float", "b", Direction::in, true},
                      {"float", "c"},
                      {"float", "x"}})});
    ASSERT_TRUE(plan) << format_text(plan.errors().front());
    const PlannedCall& call = plan.value().functions[0].calls[0];
    EXPECT_TRUE(call.has_backward);
    std::vector<Gradient> gradients;
    std::vector<bool> differentiable;
    std::vector<bool> refused;
    for (const PlannedArgument& argument : call.arguments) {
        gradients.push_back(argument.host.gradient);
        differentiable.push_back(argument.host.differentiable);
        refused.push_back(argument.grad_is_false);
    }
    EXPECT_THAT(gradients, ElementsAre(Gradient::never, Gradient::required, Gradient::never, Gradient::never,
                                       Gradient::automatic, Gradient::never));
    EXPECT_THAT(differentiable, ElementsAre(false, true, false, true, true, true));
    EXPECT_THAT(refused, ElementsAre(false, false, false, true, false, false));
}

TEST(ResolveTest, OnlyWhatHasAGradientCanBeAskedForOne) {
    const std::vector<Function> functions{
        function_of("float", "f", {{"float", "x"}, {"int", "n"}, {"float", "k", Direction::in, true}})};
    const auto asked = [&](const std::string& name, const std::string& backward) {
        const auto kind = [&](const std::string& parameter) {
            const std::string grad = parameter == name ? R"(, "grad": true)" : "";
            return R"({"kind": "tensor[1]")" + grad + "}";
        };
        return plan_of(R"({"function": "f", "args": {"x": )" + kind("x") + R"(, "n": )" + kind("n") +
                           R"(, "k": )" + kind("k") + R"(}, "result": )" + kind("result") +
                           R"(, "backward": )" + backward + "}",
                       functions);
    };
    EXPECT_TRUE(asked("x", "true"));
    for (const auto& [name, backward] :
         {std::pair{"n", "true"}, {"k", "true"}, {"result", "true"}, {"x", "false"}}) {
        SCOPED_TRACE(name);
        const auto plan = asked(name, backward);
        ASSERT_THAT(ids(plan), ElementsAre("backward-input"));
        EXPECT_THAT(plan.errors()[0].message, HasSubstr(std::string(name) == "result" ? "the result" : name));
        EXPECT_THAT(plan.errors()[0].message, HasSubstr("\"grad\": true"));
    }
}

TEST(ResolveTest, ListedInputsMayHaveGradientsAndTheOthersNot) {
    const std::vector<Function> functions{
        function_of("float", "f", {{"float", "a"}, {"float", "x"}, {"int", "n"}})};
    const std::string args =
        R"({"function": "f", "args": {"a": "value", "x": "tensor[1]", "n": "value"}, "backward": )";
    const auto plan = plan_of(args + R"({"inputs": ["x"]}})", functions);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan.value().functions[0].calls[0].arguments[0].host.gradient, Gradient::never);
    EXPECT_EQ(plan.value().functions[0].calls[0].arguments[1].host.gradient, Gradient::automatic);
    EXPECT_THAT(ids(plan_of(args + R"({"inputs": ["n"]}})", functions)), ElementsAre("backward-input"));
    EXPECT_THAT(ids(plan_of(args + R"({"inputs": ["y", "x"]}})", functions)), ElementsAre("backward-input"));
}

TEST(ResolveTest, BackwardNeedsADifferentiableFunctionAndInput) {
    EXPECT_THAT(ids(plan_of(R"({"function": "f", "args": {"x": "value"}, "backward": true})",
                            {function_of("float", "f", {{"float", "x"}}, false)})),
                ElementsAre("not-differentiable"));
    EXPECT_THAT(ids(plan_of(R"({"function": "f", "args": {"x": "value"}, "backward": true})",
                            {function_of("int", "f", {{"int", "x"}})})),
                ElementsAre("backward-input"));
}

TEST(ResolveTest, TypesBeyondVectorsAreRefusedByName) {
    Function function = function_of("float", "f", {{"float", "x"}});
    function.parameters[0].type.kind = TypeKind::structure;
    function.parameters[0].type.name = "Ray";
    const auto plan = plan_of(R"({"function": "f", "args": {"x": "value"}})", {function});
    ASSERT_THAT(ids(plan), ElementsAre("type-not-supported"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("'Ray'"));
}

TEST(ResolveTest, AllErrorsOfAllCallsComeAtOnce) {
    const Spec spec = test::spec_of(R"({"function": "f", "args": {"x": "tensor<int>[1]"}},
        {"function": "g", "args": {}}, {"function": "f", "name": "h", "args": {"y": "value"}})");
    Module module;
    module.functions = {function_of("float", "f", {{"float", "x"}})};
    EXPECT_THAT(ids(resolve(spec, module)),
                ElementsAre("argument-type", "function-unknown", "argument-unknown", "argument-missing"));
}

TEST(ResolveTest, GroupSizesAreTheSpecs) {
    const std::vector<Function> functions{function_of("float", "f", {{"float", "x"}})};
    const auto group = [&](const std::string& call) {
        return plan_of(call, functions).value().functions[0].calls[0].group_size[0];
    };
    EXPECT_EQ(group(R"({"function": "f", "args": {"x": "value"}})"), 1u);
    EXPECT_EQ(group(R"({"function": "f", "args": {"x": "tensor[1]"}})"), 256u);
    EXPECT_EQ(group(R"({"function": "f", "args": {"x": "tensor[1]"}, "threads": [64]})"), 64u);
    EXPECT_EQ(group(R"({"function": "f", "args": {"x": "tensor[1]"}, "threads": [16, 16]})"), 256u);
}

}  // namespace
}  // namespace kf::gen
