// Tests the functions that ways to accumulate become, and what they can't be of.
#include "plan/accumulate.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Accumulate;
using test::function_of;
using test::plan_of;
using test::struct_of;
using test::type_named;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<Function>& accumulating() {
    static const std::vector<Function> all{
        function_of("float", "f", {{"float", "a"}, {"float", "x"}}),
        function_of("bool", "odd", {{"float", "a"}}),
        function_of("void", "g",
                    {{"float", "a"}, {"float", "y", Direction::out}, {"float", "z", Direction::inout}})};
    return all;
}

Plan planned(const std::string& call) {
    Outcome<Plan> plan = plan_of(call, accumulating());
    if (!plan) {
        ADD_FAILURE() << format_text(plan.errors().front());
        return {};
    }
    return std::move(plan.value());
}

Diagnostic refused(const std::string& call) {
    const Outcome<Plan> plan = plan_of(call, accumulating());
    if (plan) {
        ADD_FAILURE() << "accepted: " << call;
        return {};
    }
    return plan.errors().front();
}

const manifest::Argument& argument(const Plan& plan, std::size_t function, std::size_t index) {
    return plan.functions.at(function).calls.at(0).arguments.at(index).host;
}

TEST(AccumulateTest, EveryCombinationIsAFunction) {
    const Plan plan = planned(
        R"({"function": "f", "args": {"a": "tensor[1]", "x": "tensor[2]"}, "backward": true, "forward_diff": true,
            "accumulate": {"result": ["none", "sum"], "a.grad": ["sum", "push", "first"]}})");
    std::vector<std::string> names;
    for (const PlannedFunction& function : plan.functions) {
        names.push_back(function.name);
        EXPECT_EQ(function.is_hidden(), names.size() > 1) << function.name;
    }
    EXPECT_THAT(
        names,
        ElementsAre(
            "f", "f.accumulate(result=none, a.grad=push)", "f.accumulate(result=none, a.grad=first)",
            "f.accumulate(result=sum, a.grad=sum)", "f.accumulate(result=sum, a.grad=push)",
            "f.accumulate(result=sum, a.grad=first)", "f.jvp", "f.accumulate(result=none, a.grad=push).jvp",
            "f.accumulate(result=none, a.grad=first).jvp", "f.accumulate(result=sum, a.grad=sum).jvp",
            "f.accumulate(result=sum, a.grad=push).jvp", "f.accumulate(result=sum, a.grad=first).jvp"));
    for (std::size_t f = 0; f < 6; ++f) {
        EXPECT_THAT(plan.functions[f].chosen, ElementsAre(0, 1, 2, 3, 4, 5));
        ASSERT_EQ(plan.functions[f].choices.size(), 2U);
        EXPECT_THAT(plan.functions[f].choices[1].ways, ElementsAre("sum", "push", "first"));
        EXPECT_EQ(argument(plan, f, 2).accumulate, f < 3 ? Accumulate::none : Accumulate::sum);
    }
    EXPECT_EQ(argument(plan, 0, 0).accumulate, Accumulate::automatic);
    EXPECT_EQ(argument(plan, 1, 0).accumulate, Accumulate::push);
    EXPECT_EQ(argument(plan, 5, 0).accumulate, Accumulate::first);
    for (std::size_t f = 6; f < 12; ++f) {
        EXPECT_EQ(argument(plan, f, 0).accumulate, Accumulate::automatic) << "nothing flows to it";
        EXPECT_EQ(plan.functions[f].calls[0].arguments.back().host.accumulate,
                  f < 9 ? Accumulate::none : Accumulate::sum)
            << "tangents of sums are sums";
    }
}

TEST(AccumulateTest, KindsSayItToo) {
    const Plan plan = planned(
        R"({"function": "f", "args": {"a": {"kind": "tensor[1]", "accumulate": ["overwrite", "sum"]}, "x": "tensor[2]"},
            "result": {"kind": "value", "accumulate": "sum"}, "backward": true})");
    ASSERT_EQ(plan.functions.size(), 2U);
    EXPECT_TRUE(argument(plan, 0, 0).overwrite);
    EXPECT_FALSE(argument(plan, 1, 0).overwrite);
    EXPECT_EQ(argument(plan, 0, 2).accumulate, Accumulate::sum);
    EXPECT_TRUE(passes_value(argument(plan, 0, 2)));
}

TEST(AccumulateTest, WhatThereIsNothingToAccumulateIn) {
    const std::string start = R"({"function": "f", "args": {"a": "tensor[1]", "x": "value"}, )";
    Diagnostic error = refused(start + R"("accumulate": {"a.grad": "sum"}})");
    EXPECT_EQ(error.id, "accumulate-target");
    EXPECT_THAT(error.message, HasSubstr("no input 'a' gets a gradient"));
    error = refused(start + R"("backward": true, "accumulate": {"resul": "sum"}})");
    EXPECT_EQ(error.id, "accumulate-target");
    EXPECT_EQ(refused(R"({"function": "g", "args": {"a": "tensor[1]", "y": "tensor[1]", "z": "tensor[1]"},
                          "accumulate": {"z": "sum"}})")
                  .id,
              "accumulate-target");
}

TEST(AccumulateTest, WaysThatThereArent) {
    const auto f = [](const std::string& more) {
        return refused(R"({"function": "f", "args": {"a": "tensor[1]", "x": "value"}, "backward": true, )" +
                       more + "}");
    };
    EXPECT_THAT(f(R"("accumulate": {"result": "push"})").message,
                HasSubstr("by \"push\": it is for gradients"));
    EXPECT_THAT(f(R"("accumulate": {"x.grad": "overwrite"})").message, HasSubstr("it is for tensors"));
    EXPECT_THAT(
        f(R"("accumulate": {"result": "sum"}, "result": {"kind": "tensor[1]", "accumulate": "sum"})").message,
        HasSubstr("are given twice"));
    const auto of_bool = [](const std::string& way) {
        return refused(R"({"function": "odd", "args": {"a": "tensor[1]"}, "accumulate": {"result": ")" + way +
                       "\"}}");
    };
    EXPECT_EQ(of_bool("sum").id, "accumulate-way");
    EXPECT_THAT(of_bool("sum").message, HasSubstr("not of bool"));
    EXPECT_EQ(of_bool("first").id, "accumulate-way");
    EXPECT_THAT(of_bool("first").message, HasSubstr("values of bool can't be combined"));
}

Type color() {
    Type type = type_named("int");
    type.name = "Color";
    type.is_enum = true;
    return type;
}

std::vector<Function> of_structs() {
    Function mixed = function_of("float", "mixed", {{"float", "a"}});
    mixed.result = struct_of("Mixed", {{"x", type_named("float")}, {"k", color()}});
    Function pair = function_of("float", "pair", {{"float", "a"}});
    pair.result = struct_of("Pair", {{"x", type_named("float")}, {"y", type_named("float")}});
    Function pick = function_of("float", "pick", {{"float", "a"}});
    pick.result = color();
    return {mixed, pair, pick};
}

TEST(AccumulateTest, RefusalsNameTheField) {
    const Outcome<Plan> plan =
        plan_of(R"({"function": "mixed", "args": {"a": "tensor[1]"}, "accumulate": {"result": "sum"}})",
                of_structs());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.errors()[0].message,
              "'result.k' can't be accumulated by \"sum\": values of an enum can't be combined");
}

TEST(AccumulateTest, SumsAreSuggestedOnlyOfWhatHasThem) {
    const auto notes = [](const std::string& function, const std::string& result,
                          const std::vector<Function>& all) {
        const Outcome<Plan> plan = plan_of(
            R"({"function": ")" + function + R"(", "args": {"a": "tensor[1]"}, "result": ")" + result + "\"}",
            all);
        EXPECT_FALSE(plan);
        return plan ? std::vector<std::string>() : plan.errors()[0].notes;
    };
    const auto suggestion = HasSubstr("accumulate");
    EXPECT_THAT(notes("pair", "tensor[0]", of_structs()),
                Contains(HasSubstr(R"("accumulate": {"result": ["sum"]})")));
    EXPECT_THAT(notes("mixed", "tensor[0]", of_structs()), Not(Contains(suggestion)));
    EXPECT_THAT(notes("pick", "value", of_structs()), Not(Contains(suggestion)));
    EXPECT_THAT(notes("odd", "value", accumulating()), Not(Contains(suggestion)));
    // What is read too has no ways.
    const Outcome<Plan> plan =
        plan_of(R"({"function": "g", "args": {"a": "tensor[1]", "y": "tensor[1]", "z": "tensor[0]"}})",
                accumulating());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.errors()[0].id, "output-broadcast");
    EXPECT_THAT(plan.errors()[0].notes, Not(Contains(suggestion)));
}

TEST(AccumulateTest, OverloadsOfferTheSame) {
    const Diagnostic error = refused(
        R"({"function": "f", "args": {"a": [{"kind": "tensor[1]", "accumulate": ["sum", "push"]},
                                             {"kind": "tensor[2]", "accumulate": ["sum", "first"]}],
                                       "x": "value"}, "backward": true})");
    EXPECT_EQ(error.id, "accumulate-way");
    EXPECT_THAT(error.message, HasSubstr("overloads offer different ways"));
}

TEST(AccumulateTest, OutputsOfLowerRankNeedAWay) {
    const std::string start =
        R"({"function": "f", "args": {"a": "tensor[1]", "x": "tensor[2]"}, "result": "tensor[1]")";
    EXPECT_EQ(refused(start + R"(, "accumulate": {"result": "none"}})").id, "output-broadcast");
    EXPECT_EQ(argument(planned(start + R"(, "accumulate": {"result": "first"}})"), 0, 2).accumulate,
              Accumulate::first);
}

}  // namespace
}  // namespace kf::gen
