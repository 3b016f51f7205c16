// Parameters that calls leave out.
#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// float f(float x, float k = 2, float j = 3)
Function function() {
    Function made = test::function_of("float", "f", {{"float", "x"}, {"float", "k"}, {"float", "j"}});
    made.parameters[1].has_default = true;
    made.parameters[2].has_default = true;
    return made;
}

/// float f(`type` x, `more` = …), declared in that line.
Function function_at(std::int64_t line, const std::string& type, const test::ParameterText& more) {
    Function made = test::function_of("float", "f", {{type, "x"}, more});
    made.parameters[1].has_default = true;
    made.location.line = line;
    return made;
}

/// A spec's plan with several calls, each a JSON object.
Outcome<Plan> plan_of_calls(const std::vector<std::string>& calls, const std::vector<Function>& functions) {
    Spec made = test::spec_of(calls.front());
    for (std::size_t i = 1; i < calls.size(); ++i) {
        made.calls.push_back(test::spec_of(calls[i]).calls.front());
        made.calls.back().location.line += static_cast<std::int64_t>(i);
    }
    Module module;
    module.module_names = {"functions"};
    module.functions = functions;
    return resolve(made, module);
}

/// Of each overload with so many arguments the type of the first: "float".
std::vector<std::string> first_types(const Outcome<Plan>& plan, std::size_t arguments) {
    std::vector<std::string> types;
    for (const PlannedCall& call : plan.value().functions.front().calls)
        if (call.arguments.size() == arguments + 1) types.push_back(call.arguments.front().element_name);
    return types;
}

/// Of each overload its arguments: "x k j result".
std::vector<std::string> overloads(const Outcome<Plan>& plan) {
    std::vector<std::string> all;
    for (const PlannedCall& call : plan.value().functions.front().calls) {
        std::string text;
        for (const PlannedArgument& argument : call.arguments)
            text += (text.empty() ? "" : " ") + argument.host.name;
        all.push_back(text);
    }
    return all;
}

TEST(DefaultsTest, TheSpecLeavesTheLastOnesOut) {
    const auto plan = test::plan_of(R"({"function": "f", "args": {"x": "tensor[1]"}})", {function()});
    ASSERT_TRUE(plan.ok());
    EXPECT_THAT(overloads(plan), ElementsAre("x result"));
    EXPECT_TRUE(plan.value().functions[0].calls[0].by_adapter) << "f's own derivative has all of them";
}

TEST(DefaultsTest, TheHostLeavesThemOut) {
    const std::string call =
        R"({"function": "f", "args": {"x": "tensor[1]", "k": "value", "j": "value"}, "backward": )";
    const auto plan = test::plan_of(call + "false}", {function()});
    ASSERT_TRUE(plan.ok());
    EXPECT_THAT(overloads(plan), ElementsAre("x k j result", "x k result", "x result"));
    const auto backward = test::plan_of(call + "true}", {function()});
    ASSERT_TRUE(backward.ok());
    EXPECT_THAT(overloads(backward), ElementsAre("x k j result"))
        << "backward(x, y) would mean k or the result";
}

TEST(DefaultsTest, CallsOfTheSpecGoFirst) {
    Function shorter = test::function_of("float", "f", {{"float", "x"}});
    const auto plan =
        test::plan_of(R"({"function": "f", "args": {"x": "tensor[1]"}})", {function(), shorter});
    ASSERT_TRUE(plan.ok());
    EXPECT_THAT(overloads(plan), ElementsAre("x result"));
    EXPECT_FALSE(plan.value().functions[0].calls[0].by_adapter) << "the one without defaults";
}

const std::string both_values = R"({"function": "f", "args": {"x": "value<float>", "k": "value"}})";

TEST(DefaultsTest, OverloadsDifferInTypes) {
    const std::string other = R"({"function": "f", "args": {"x": "value<int2>", "k": "value"}})";
    const std::vector<Function> functions{function_at(1, "float", {"float", "k"}),
                                          function_at(2, "int2", {"float", "k"})};
    const auto plan = plan_of_calls({both_values, other}, functions);
    ASSERT_TRUE(plan.ok()) << format_text(plan.errors().front());
    EXPECT_THAT(first_types(plan, 2), ElementsAre("float", "int2"));
    EXPECT_THAT(first_types(plan, 1), ElementsAre("float", "int2"));
    EXPECT_THAT(plan.warnings(), IsEmpty());
}

TEST(DefaultsTest, OverloadsOfOneCallEachHaveTheirOwnDefaults) {
    Function without = test::function_of("float", "f", {{"int2", "x"}, {"float", "k"}});
    without.location.line = 2;
    const auto plan =
        test::plan_of(R"({"function": "f", "args": {"x": ["value<float>", "value<int2>"], "k": "value"}})",
                      {function_at(1, "float", {"float", "k"}), without});
    ASSERT_TRUE(plan.ok()) << format_text(plan.errors().front());
    EXPECT_THAT(first_types(plan, 2), UnorderedElementsAre("float", "int2"));
    EXPECT_THAT(first_types(plan, 1), ElementsAre("float")) << "the other one has no default value";
}

TEST(DefaultsTest, AnotherFunctionWithTheNamesThatAreLeft) {
    const Function other = test::function_of("float", "f", {{"int2", "x"}});
    const std::vector<Function> functions{function_at(1, "float", {"float", "k"}), other};
    const auto on_host = test::plan_of(both_values, functions);
    ASSERT_TRUE(on_host.ok()) << format_text(on_host.errors().front());
    EXPECT_THAT(first_types(on_host, 1), ElementsAre("float"));
    const auto in_spec = test::plan_of(R"({"function": "f", "args": {"x": "value<float>"}})", functions);
    ASSERT_TRUE(in_spec.ok()) << format_text(in_spec.errors().front());
    EXPECT_THAT(first_types(in_spec, 1), ElementsAre("float"));
    const auto either = test::plan_of(R"({"function": "f", "args": {"x": "value"}})", functions);
    ASSERT_TRUE(either.ok()) << format_text(either.errors().front());
    EXPECT_THAT(first_types(either, 1), ElementsAre("int2")) << "it leaves nothing out";
}

TEST(DefaultsTest, FunctionsThatTakeTheSameWithoutThem) {
    const std::string other = R"({"function": "f", "args": {"x": "value<float>", "j": "value"}})";
    const auto plan = plan_of_calls({both_values, other}, {function_at(1, "float", {"float", "k"}),
                                                           function_at(2, "float", {"int2", "j"})});
    ASSERT_TRUE(plan.ok()) << format_text(plan.errors().front());
    EXPECT_THAT(first_types(plan, 2), ElementsAre("float", "float"));
    EXPECT_THAT(first_types(plan, 1), IsEmpty());
    ASSERT_THAT(plan.warnings(), SizeIs(2)) << "one at each call";
    EXPECT_EQ(plan.warnings()[0].id, "default-ambiguous");
    EXPECT_EQ(plan.warnings()[0].message,
              "'f' has no call with (value<float>) alone: it could mean several functions");
    EXPECT_THAT(
        plan.warnings()[0].notes,
        ElementsAre("candidate: float f(float x, float k) at functions.slang:1",
                    "candidate: float f(float x, int2 j) at functions.slang:2", HasSubstr("\"name\"")));
}

// Slang, too, would not know which of the two f(x) means.
TEST(DefaultsTest, FunctionsThatTheSpecDoesNotCall) {
    const Function exact = test::function_of("float", "f", {{"float", "x"}});
    const auto plan = test::plan_of(both_values, {function_at(1, "float", {"float", "k"}), exact});
    ASSERT_TRUE(plan.ok()) << format_text(plan.errors().front());
    EXPECT_THAT(first_types(plan, 1), IsEmpty());
    ASSERT_THAT(plan.warnings(), SizeIs(1));
    EXPECT_EQ(plan.warnings()[0].id, "default-ambiguous");
}

TEST(DefaultsTest, ArgumentsThatTheHostDoesNotGive) {
    const auto plan = test::plan_of(
        R"({"function": "f", "args": {"x": "value", "k": {"kind": "constant", "value": 3}, "j": "value"}})",
        {function()});
    ASSERT_TRUE(plan.ok()) << format_text(plan.errors().front());
    EXPECT_THAT(overloads(plan), ElementsAre("x k j result", "x k result"))
        << "without k, too, the host would give x alone";
}

TEST(DefaultsTest, OnlyTheLastOnesMayBeLeftOut) {
    const auto plan =
        test::plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "j": "value"}})", {function()});
    ASSERT_THAT(test::ids(plan), ElementsAre("argument-missing"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("parameter 'k'"));
    EXPECT_THAT(plan.errors()[0].notes, Contains(HasSubstr("only the last parameters")));
}

}  // namespace
}  // namespace kf::gen
