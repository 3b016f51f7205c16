// Reasons for which an input has no gradient, as the plan knows them.
#include "check_process/reasons.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::struct_of;
using test::type_named;

/// A plan of one call with one argument of one parameter.
Plan plan_of(const Type& parameter, const Type& leaf, const std::string& path) {
    Plan plan;
    PlannedCall& call = plan.functions.emplace_back().calls.emplace_back();
    call.has_backward = true;
    PlannedArgument& argument = call.arguments.emplace_back();
    argument.type = leaf;
    argument.path = path;
    PlannedParameter& whole = call.parameters.emplace_back();
    whole.type = parameter;
    whole.host.leaves = 1;
    return plan;
}

std::string gradient_reason(const Plan& plan) { return reason(plan, 0, 0, 0); }

TEST(Reasons, FieldsAndTypes) {
    const Type number = type_named("float");
    const Type light = struct_of("Light", {{"power", number, true}, {"color", number}});
    const Type scene = struct_of("Scene", {{"light", light}});
    const Type plain = struct_of("Plain", {{"light", light}}, false);
    EXPECT_EQ(gradient_reason(plan_of(light, number, ".power")), "field 'power' is no_diff");
    EXPECT_EQ(gradient_reason(plan_of(scene, number, ".light.power")), "field 'power' is no_diff");
    EXPECT_EQ(gradient_reason(plan_of(scene, number, ".light[].power")), "field 'power' is no_diff");
    EXPECT_EQ(gradient_reason(plan_of(plain, number, ".light.color")), "'Plain' is not IDifferentiable");
    EXPECT_EQ(gradient_reason(plan_of(struct_of("Outer", {{"plain", plain}}), number, ".plain.light.color")),
              "'Plain' is not IDifferentiable");
    const Type tensor = type_named("DiffTensor<float, 2>");
    const Type layer = struct_of("Layer", {{"weights", tensor, true}, {"bias", tensor}}, false);
    EXPECT_EQ(gradient_reason(plan_of(layer, tensor, ".weights")), "field 'weights' is no_diff");
    EXPECT_EQ(gradient_reason(plan_of(layer, tensor, ".bias")), "");
}

TEST(Reasons, ParametersAndSpecs) {
    const Type number = type_named("float3");
    Plan plan = plan_of(number, number, "");
    PlannedCall& call = plan.functions[0].calls[0];
    call.parameters[0].no_diff = true;
    EXPECT_EQ(gradient_reason(plan), "no_diff");
    call.member = Member::method;
    EXPECT_EQ(gradient_reason(plan), "[NoDiffThis]");
    call.arguments[0].host.differentiable = true;
    EXPECT_EQ(gradient_reason(plan), "not among the \"inputs\" of \"backward\"");
    call.arguments[0].grad_is_false = true;
    EXPECT_EQ(gradient_reason(plan), "\"grad\": false");
    call.has_backward = false;
    EXPECT_EQ(gradient_reason(plan), "the spec asks for no \"backward\"");
    EXPECT_EQ(gradient_reason(plan_of(type_named("int2"), type_named("int2"), "")), "");
    const Type tensor = type_named("RWTensor<float, 2>");
    EXPECT_EQ(gradient_reason(plan_of(tensor, tensor, "")), "RWTensor has no derivatives");
}

TEST(Reasons, OfAPlan) {
    const Type number = type_named("float");
    Plan plan = plan_of(number, type_named("int"), "");
    PlannedCall& call = plan.functions[0].calls[0];
    call.arguments.emplace_back().type = number;
    call.arguments[1].no_diff = true;
    EXPECT_EQ(reasons(plan), (std::vector<check::Reason>{{0, 0, 1, "no_diff"}}));
    plan.functions.push_back(plan.functions[0]);
    EXPECT_EQ(reasons(plan), (std::vector<check::Reason>{{0, 0, 1, "no_diff"}, {1, 0, 1, "no_diff"}}));
}

}  // namespace
}  // namespace kf::gen
