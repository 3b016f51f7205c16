// Parameters that calls leave out.
#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// float f(float x, float k = 2, float j = 3)
Function function() {
    Function made = test::function_of("float", "f", {{"float", "x"}, {"float", "k"}, {"float", "j"}});
    made.parameters[1].has_default = true;
    made.parameters[2].has_default = true;
    return made;
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

TEST(DefaultsTest, OnlyTheLastOnesMayBeLeftOut) {
    const auto plan =
        test::plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "j": "value"}})", {function()});
    ASSERT_THAT(test::ids(plan), ElementsAre("argument-missing"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("parameter 'k'"));
    EXPECT_THAT(plan.errors()[0].notes, Contains(HasSubstr("only the last parameters")));
}

}  // namespace
}  // namespace kf::gen
