// Tests the calls that forward derivatives become, and what has none.
#include "plan/forward_diff.h"

#include <gmock/gmock.h>

#include "core/items.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Access;
using manifest::Form;
using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const PlannedCall& call) {
    std::vector<std::string> names;
    for (const PlannedArgument& argument : call.arguments) {
        constexpr std::array roles{"", "out ", "inout ", "result "};
        names.push_back(roles.at(static_cast<std::size_t>(argument.host.role)) + argument.host.name);
    }
    return names;
}

/// The forward derivative's call of the only function's only call.
PlannedCall derived(const std::string& call, const std::vector<Function>& functions) {
    const Outcome<Plan> plan = plan_of(call, functions);
    if (!plan) {
        ADD_FAILURE() << format_text(plan.errors().front());
        return {};
    }
    EXPECT_EQ(plan.value().functions.size(), 2U);
    EXPECT_EQ(plan.value().functions.at(0).jvp, 1);
    EXPECT_FALSE(plan.value().functions.at(0).is_jvp);
    EXPECT_TRUE(plan.value().functions.at(1).is_jvp);
    EXPECT_EQ(plan.value().functions.at(1).name, plan.value().functions.at(0).name + ".jvp");
    return plan.value().functions.at(1).calls.at(0);
}

TEST(ForwardDiffTest, EveryArgumentHasATangentOfItsKind) {
    const PlannedCall call = derived(
        R"({"function": "f", "args": {"x": "tensor[2]", "k": "value", "n": "value", "y": "tensor[2]",
            "z": "tensor[2]"}, "backward": true, "forward_diff": true})",
        {function_of("float", "f",
                     {{"float3", "x"},
                      {"float", "k", Direction::in, true},
                      {"int", "n"},
                      {"float", "y", Direction::out},
                      {"half", "z", Direction::inout}})});
    EXPECT_THAT(names_of(call),
                ElementsAre("x", "k", "n", "out y", "inout z", "tangents.x", "out tangents.y", "tangents.z",
                            "out tangents_out.z", "result result", "out tangents.return"));
    EXPECT_TRUE(call.is_jvp);
    EXPECT_FALSE(call.has_backward);
    const manifest::Argument& x = call.arguments.at(0).host;
    const manifest::Argument& dx = call.arguments.at(5).host;
    EXPECT_EQ(x.gradient, manifest::Gradient::never);
    EXPECT_EQ(dx.tangent_of, 0);
    EXPECT_TRUE(passes_tensor(dx));
    EXPECT_EQ(dx.element, x.element);
    EXPECT_EQ(dx.map, x.map);
    EXPECT_EQ(dx.trailing, (std::vector<std::int64_t>{3}));
    EXPECT_TRUE(dx.differentiable);
    EXPECT_EQ(call.arguments.at(8).host.tangent_of, 4);
    EXPECT_EQ(call.parameters.at(7).tangent_of, 4);
    EXPECT_EQ(call.parameters.at(10).tangent_of, 9);
    EXPECT_EQ(call.parameters.at(0).tangent_of, -1);
}

TEST(ForwardDiffTest, WholeTensorsAreReadAndWrittenAsTheirTangentsAre) {
    const PlannedCall call = derived(
        R"({"function": "f", "args": {"i": "grid[1]", "a": "tensor[1]", "b": "tensor[2]", "c": "tensor[1]"},
                    "forward_diff": true})",
        {function_of("void", "f",
                     {{"int", "i"},
                      {"DiffTensor<float, 1>", "a"},
                      {"WDiffTensor<half, 1>", "b"},
                      {"RWTensor<float, 1>", "c"}})});
    EXPECT_THAT(names_of(call), ElementsAre("i", "a", "b", "c", "tangents.a", "tangents.b"));
    EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(call.arguments.at(4).host.kind).access, Access::read);
    EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(call.arguments.at(5).host.kind).access, Access::write);
    EXPECT_EQ(call.arguments.at(5).host.call_rank, 1);
}

TEST(ForwardDiffTest, TensorsInAStructThatChangesKeepTheirTangents) {
    const auto names = [](const std::string& changes) {
        Function function = function_of("float", "f", {{"float", "m", Direction::inout}});
        function.parameters[0].type = test::struct_of(
            "Meter",
            {{"table", test::type_named("DiffTensor<float, 1>")}, {"total", test::type_named(changes)}});
        return names_of(derived(R"({"function": "f", "forward_diff": true,
                                    "args": {"m": {"fields": {"table": "tensor[1]", "total": "tensor[1]"}}}})",
                                {function}));
    };
    EXPECT_THAT(names("float"),
                ElementsAre("m.table", "inout m.total", "tangents.m.table", "tangents.m.total",
                            "tangents_out.m.table", "out tangents_out.m.total", "result result",
                            "out tangents.return"));
    EXPECT_THAT(names("int"), ElementsAre("m.table", "inout m.total", "tangents.m.table", "tangents.m.total",
                                          "result result", "out tangents.return"))
        << "what has none makes no new one";
}

TEST(ForwardDiffTest, StructsHaveTangentsOfTheSameForm) {
    const Type ray = test::struct_of("Ray", {{"pos", test::type_named("float3")},
                                             {"id", test::type_named("int")},
                                             {"scale", test::type_named("float"), true}});
    Function function = function_of("float", "f", {{"float", "x"}});
    function.parameters.push_back({"ray", ray, Direction::in, false});
    const PlannedCall call =
        derived(R"({"function": "f", "args": {"x": "rand_float", "ray": "tensor[1]"}, "forward_diff": true})",
                {function});
    EXPECT_THAT(names_of(call),
                ElementsAre("x", "ray.pos", "ray.id", "ray.scale", "tangents.ray.pos", "tangents.ray.id",
                            "tangents.ray.scale", "result result", "out tangents.return"));
    EXPECT_TRUE(call.arguments.at(4).host.differentiable);
    EXPECT_FALSE(call.arguments.at(5).host.differentiable);
    EXPECT_FALSE(call.arguments.at(6).host.differentiable);
    EXPECT_EQ(call.arguments.at(6).host.offset, call.arguments.at(3).host.offset);
    const manifest::ParameterTree& tangent = call.parameters.at(2).host;
    EXPECT_EQ(tangent.name, "tangents.ray");
    EXPECT_EQ(tangent.form, Form::tensor);
    EXPECT_EQ(tangent.leaf, 4);
    EXPECT_EQ(tangent.fields.at(1).leaf, 5);
}

TEST(ForwardDiffTest, LargeValuesLieInMemory) {
    const PlannedCall call = derived(R"({"function": "f", "args": {"m": "value"}, "forward_diff": true})",
                                     {function_of("void", "f", {{"float2x3", "m", Direction::inout}})});
    EXPECT_THAT(names_of(call), ElementsAre("inout m", "tangents.m", "out tangents_out.m"));
    EXPECT_TRUE(std::get<manifest::kinds::Value>(call.arguments.at(1).host.kind).in_memory);
    EXPECT_FALSE(std::get<manifest::kinds::Value>(call.arguments.at(2).host.kind).in_memory);
}

TEST(ForwardDiffTest, OverloadsWithoutOneAreLeftOut) {
    const Outcome<Plan> plan = plan_of(
        R"({"function": "f", "args": {"x": "value"}, "forward_diff": true},
           {"function": "f", "args": {"x": "tensor[1]"}},
           {"function": "f", "args": {"x": "tensor[2]"}, "forward_diff": true},
           {"function": "f", "name": "g", "args": {"x": "value"}, "forward_diff": false})",
        {function_of("float", "f", {{"float", "x"}})});
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan.value().functions.size(), 3U);
    EXPECT_EQ(plan.value().functions.at(0).jvp, 2);
    EXPECT_EQ(plan.value().functions.at(1).jvp, -1);
    const std::vector<PlannedCall>& calls = plan.value().functions.at(2).calls;
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls.at(0).rank, 0);
    EXPECT_EQ(calls.at(1).rank, 2);
}

TEST(ForwardDiffTest, MethodsMayChangeTheirObject) {
    const Type ray =
        test::struct_of("Ray", {{"pos", test::type_named("float3")}, {"vel", test::type_named("float3")}});
    for (const bool mutating : {false, true}) {
        Function method = function_of("float3", "Ray.at", {{"float", "this"}, {"float", "t"}});
        method.member = Member::method;
        method.parameters[0].type = ray;
        if (mutating) method.parameters[0].direction = Direction::inout;
        const Outcome<Plan> plan = plan_of(
            R"({"function": "Ray.at", "this": ["value", {"fields": {"pos": "tensor[1]", "vel": "value"}}],
                "args": {"t": "tensor[1]"}, "forward_diff": true})",
            {method});
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        const std::vector<PlannedCall>& calls = plan.value().functions.at(1).calls;
        EXPECT_THAT(names_of(calls.at(0)),
                    ElementsAre("this.pos", "this.vel", "t", "tangents.this.pos", "tangents.this.vel",
                                "tangents.t", "result result", "out tangents.return"))
            << "a value is only read";
        if (!mutating) continue;
        EXPECT_THAT(names_of(calls.at(1)),
                    ElementsAre("inout this.pos", "this.vel", "t", "tangents.this.pos", "tangents.this.vel",
                                "out tangents_out.this.pos", "tangents_out.this.vel", "tangents.t",
                                "result result", "out tangents.return"));
        EXPECT_FALSE(calls.at(1).arguments.at(6).host.differentiable) << "it only stands in its place";
        EXPECT_EQ(plan.value().functions.at(1).name, "Ray.at.jvp");
        EXPECT_TRUE(plan.value().functions.at(1).owner.empty());
    }
}

struct Refused {
    std::string parameter;
    std::string kind;
    std::string result;
    bool differentiable;
    std::string text;
};

class ForwardDiffRefusedTest : public testing::TestWithParam<Refused> {};

TEST_P(ForwardDiffRefusedTest, WhereTheSpecAsksForIt) {
    const auto& [parameter, kind, result, differentiable, text] = GetParam();
    const Outcome<Plan> plan =
        plan_of("{\"function\": \"f\", \"args\": {\"x\": \"" + kind + "\"},\n \"forward_diff\": true}",
                {function_of(result, "f", {{parameter, "x"}}, differentiable)});
    ASSERT_THAT(ids(plan), ElementsAre("not-differentiable"));
    EXPECT_THAT(plan.errors().front().message, HasSubstr(text));
    EXPECT_EQ(plan.errors().front().location.line, 2);
    EXPECT_EQ(plan.errors().front().location.column, 18);
}

INSTANTIATE_TEST_SUITE_P(
    All, ForwardDiffRefusedTest,
    testing::Values(Refused{"float", "value", "float", false, "function 'f' has no forward derivative"},
                    Refused{"int", "value", "float", true, "no input that can be differentiated"},
                    Refused{"float", "rand_float", "float", true, "no input that can be differentiated"},
                    Refused{"float", "value", "int", true, "no output that can be differentiated"},
                    Refused{"float", "value", "void", true, "no output that can be differentiated"},
                    Refused{"DiffTensor<float, 1>", "tensor[1]", "void", true, "no output that can"},
                    Refused{"WDiffTensor<float, 1>", "tensor[1]", "void", true, "no input that can"},
                    Refused{"RWTensor<float, 1>", "tensor[1]", "float", true, "no input that can"}));

}  // namespace
}  // namespace kf::gen
