// Calls that are launched thread by thread.
#include "plan/dispatch.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// void run(uint3 id : SV_DispatchThreadID, float k, uint lane : SV_GroupIndex), in groups of 8 x 4.
Function kernel() {
    Function function = function_of("void", "run", {{"float", "k"}});
    function.entry = EntryPoint::compute;
    function.group_size = {8, 4, 1};
    function.location = {"/m.slang", 4, 6};
    function.system_values = {
        {"id", "SV_DISPATCHTHREADID", test::type_named("uint3"), 0, {"/m.slang", 4, 16}},
        {"lane", "SV_GROUPINDEX", test::type_named("uint"), 1, {"/m.slang", 4, 60}}};
    return function;
}

const PlannedCall& launched_call(const Outcome<Plan>& plan) {
    return plan.value().functions.at(0).calls.at(0);
}

TEST(DispatchTest, EntryPointsAreLaunchedInGroups) {
    const auto plan = plan_of(R"({"function": "run", "args": {"k": "value"}})", {kernel()});
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const PlannedCall& call = launched_call(plan);
    EXPECT_EQ(call.dispatch, manifest::Dispatch::groups);
    EXPECT_EQ(call.rank, 3);
    EXPECT_THAT(call.group_size, ElementsAre(8, 4, 1));
    EXPECT_EQ(call.launch_values,
              (std::vector<LaunchValue>{{0, "uint3", "kf_id"}, {1, "uint", "kf_number"}}));
}

TEST(DispatchTest, TheFirstParameterIsTheThreadsId) {
    struct Row {
        std::string type, expression;
        std::array<std::uint32_t, 3> group;
    };
    for (const Row& row : {Row{"uint", "kf_id.x", {256, 1, 1}}, Row{"uint2", "kf_id.xy", {16, 16, 1}},
                           Row{"uint3", "kf_id", {8, 8, 4}}, Row{"int2", "int2(kf_id.xy)", {16, 16, 1}}}) {
        SCOPED_TRACE(row.type);
        const auto plan = plan_of(R"({"function": "f", "dispatch": "threads", "args": {"k": "value"}})",
                                  {function_of("void", "f", {{row.type, "id"}, {"float", "k"}})});
        ASSERT_TRUE(plan) << plan.errors().front().message;
        EXPECT_EQ(launched_call(plan).dispatch, manifest::Dispatch::threads);
        EXPECT_EQ(launched_call(plan).group_size, row.group);
        EXPECT_EQ(launched_call(plan).launch_values,
                  (std::vector<LaunchValue>{{0, row.type, row.expression}}));
    }
}

TEST(DispatchTest, PlainFunctionsAreLaunchedInWholeGroupsWhereTheSpecSaysSo) {
    const std::vector<Function> functions = {function_of("void", "f", {{"uint2", "id"}, {"float", "k"}})};
    const auto plan = plan_of(
        R"({"function": "f", "dispatch": "groups", "threads": [8, 4], "args": {"k": "value"}})", functions);
    ASSERT_TRUE(plan) << plan.errors().front().message;
    EXPECT_EQ(launched_call(plan).dispatch, manifest::Dispatch::groups);
    EXPECT_THAT(launched_call(plan).group_size, ElementsAre(8, 4, 1));
    EXPECT_EQ(launched_call(plan).launch_values, (std::vector<LaunchValue>{{0, "uint2", "kf_id.xy"}}));
}

struct DispatchRefusal {
    std::string call, id, message;
};

void expect_refusal(const DispatchRefusal& row, const Function& function) {
    SCOPED_TRACE(row.call);
    const auto plan = plan_of(row.call, {function});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.errors().front().id, row.id);
    EXPECT_THAT(plan.errors().front().message, HasSubstr(row.message));
    EXPECT_FALSE(plan.errors().front().location.file.empty());
    EXPECT_GT(plan.errors().front().location.line, 0);
}

TEST(DispatchTest, ThreadsShareTheirArguments) {
    expect_refusal({R"({"function": "run", "args": {"k": "tensor[1]"}})", "dispatch-argument",
                    "'k' has an element for each call"},
                   kernel());
    expect_refusal({R"({"function": "run", "args": {"k": "rand_float"}})", "dispatch-argument",
                    "'k' has an element for each call"},
                   kernel());
    Function writes = kernel();
    writes.parameters[0].direction = Direction::out;
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "dispatch-argument", "the output 'k'"},
                   writes);
    expect_refusal(
        {R"({"function": "f", "dispatch": "threads", "args": {}})", "dispatch-argument", "a result"},
        function_of("float", "f", {{"uint", "id"}}));
}

TEST(DispatchTest, GroupSizesAgree) {
    expect_refusal({R"({"function": "f", "dispatch": "groups", "args": {}})", "group-size",
                    "nothing says how many threads a group of 'f' has"},
                   function_of("void", "f", {{"uint", "id"}}));
    expect_refusal({R"({"function": "f", "dispatch": "groups", "args": {}})", "dispatch-argument",
                    R"('f' is launched in groups ("dispatch": "groups"))"},
                   function_of("float", "f", {{"uint", "id"}}));
    expect_refusal({R"({"function": "f", "dispatch": "groups", "args": {}})", "dispatch-thread-id",
                    R"("dispatch": "groups" gives the first parameter)"},
                   function_of("void", "f", {{"float", "id"}}));
    expect_refusal({R"({"function": "run", "threads": [16, 4], "args": {"k": "value"}})", "group-size",
                    "says groups of [16, 4, 1], and 'run' has [numthreads] of [8, 4, 1]"},
                   kernel());
    Function unsized = kernel();
    unsized.group_size = {};
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "group-size", "nothing says how many"},
                   unsized);
    const auto plan =
        plan_of(R"({"function": "run", "threads": [32, 2], "args": {"k": "value"}})", {unsized});
    ASSERT_TRUE(plan) << plan.errors().front().message;
    EXPECT_THAT(launched_call(plan).group_size, ElementsAre(32, 2, 1));
    Function large = kernel();
    large.group_size = {64, 32, 1};
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "group-size", "too large"}, large);
}

TEST(DispatchTest, SystemValuesAreThoseOfComputeKernels) {
    Function vertex = kernel();
    vertex.system_values[0].semantic = "SV_VERTEXID";
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "system-value", "SV_VERTEXID"}, vertex);
    Function wide = kernel();
    wide.system_values[1].type = test::type_named("uint2");
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "system-value", "'lane' of 'run'"},
                   wide);
    Function plain = kernel();
    plain.entry = EntryPoint::none;
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "system-value", "only entry points"},
                   plain);
}

TEST(DispatchTest, StructsOfSystemValuesAreInitialised) {
    Function function = kernel();
    SystemValue place = function.system_values[0];
    place = {"place", {}, test::struct_of("Place", {}), 0, place.location, {}};
    place.fields = function.system_values;
    place.fields[0].type = test::type_named("int2");
    SystemValue outer{"outer", {}, test::struct_of("Outer", {}), 1, place.location, {place}};
    outer.fields.push_back({"group", "SV_GROUPID", test::type_named("uint"), 0, place.location});
    function.system_values = {outer};
    const auto plan = plan_of(R"({"function": "run", "args": {"k": "value"}})", {function});
    ASSERT_TRUE(plan) << plan.errors().front().message;
    EXPECT_EQ(
        launched_call(plan).launch_values,
        (std::vector<LaunchValue>{{1, "Outer", "{ { int2(kf_id.xy), kf_number }, kf_group.x }", true}}));
    function.system_values[0].fields[0].fields[1].semantic.clear();
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "system-value",
                    "'outer.place.lane', of a parameter of 'run' is a uint without a semantic"},
                   function);
}

TEST(DispatchTest, OtherEntryPointsAreRefused) {
    Function other = kernel();
    other.entry = EntryPoint::other;
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "function-entry-point",
                    "another pipeline than compute"},
                   other);
    other.entry = EntryPoint::by_macros;
    expect_refusal({R"({"function": "run", "args": {"k": "value"}})", "function-entry-point",
                    "whose attributes a macro writes"},
                   other);
    expect_refusal({R"({"function": "f", "dispatch": "threads", "args": {"x": "value"}})",
                    "dispatch-thread-id", "it is no uint, uint2 or uint3"},
                   function_of("void", "f", {{"float", "x"}}));
}

TEST(DispatchTest, PassesThatLaunchesCantHave) {
    Function function = kernel();
    function.backward_differentiable = function.forward_differentiable = true;
    expect_refusal({R"({"function": "run", "backward": {"fused": true}, "args": {"k": "value"}})",
                    "dispatch-argument", "a fused pass"},
                   function);
    expect_refusal({R"({"function": "run", "accumulate": {"k.grad": "sum"}, "args": {"k": "value"}})",
                    "dispatch-argument", "other ways to accumulate"},
                   function);
}

}  // namespace
}  // namespace kf::gen
