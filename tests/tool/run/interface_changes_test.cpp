// What `kfgen check --against` says of two interfaces.
#include "run/interface_changes.h"

#include <gmock/gmock.h>

#include "runtime/core/manifests.h"

namespace kf::gen {
namespace {

using manifest::Manifest;
using testing::ElementsAre;
using testing::IsEmpty;

manifest::Argument tensor(const std::string& name, manifest::Role role = manifest::Role::in,
                          std::int64_t rank = 1, ScalarType scalar = ScalarType::float32) {
    manifest::Argument argument;
    argument.name = name;
    argument.role = role;
    argument.kind = manifest::kinds::Tensor{};
    argument.rank = argument.call_rank = rank;
    for (std::int64_t i = 0; i < rank; ++i) argument.map.push_back(i);
    argument.element.scalar = scalar;
    argument.differentiable = true;
    return argument;
}

manifest::Call call(std::vector<manifest::Argument> arguments) {
    manifest::Call made;
    made.arguments = std::move(arguments);
    for (manifest::Argument& argument : made.arguments) {
        if (argument.role == manifest::Role::in) argument.gradient = manifest::Gradient::automatic;
    }
    kf::test::set_leaves(made);
    made.rank = 1;
    made.has_backward = true;
    return made;
}

/// f(x, k) -> tensor and g(x, k) -> tensor.
Manifest two_functions() {
    Manifest manifest;
    manifest.name = "m";
    const auto one = call({tensor("x"), tensor("k"), tensor("result", manifest::Role::result)});
    manifest.functions = {{"f", "", {one}}, {"g", "", {one}}};
    return manifest;
}

std::vector<std::string> changes(const Manifest& now, const Manifest& before = two_functions()) {
    std::vector<std::string> lines;
    for (const InterfaceChange& change : interface_changes(before, now))
        lines.push_back((change.breaks ? "! " : "+ ") + change.what + " " + change.function + ": " +
                        change.text);
    return lines;
}

TEST(InterfaceChanges, AreNoneOfTheSame) {
    EXPECT_THAT(changes(two_functions()), IsEmpty());
    EXPECT_EQ(interface_report({}, false), "the interface is the same\n");
}

TEST(InterfaceChanges, OfFunctions) {
    Manifest now = two_functions();
    now.functions[1].name = "h";
    EXPECT_THAT(changes(now), ElementsAre("! function_renamed g: it is called 'h' now"));
    now.functions[1].calls.front().arguments.front().rank = 2;
    EXPECT_THAT(changes(now),
                ElementsAre("! function_removed g: it is gone", "+ function_added h: it is new"));
    now = two_functions();
    now.name = "n";
    EXPECT_THAT(changes(now), ElementsAre("! name : the name was 'm' and is 'n'"));
}

TEST(InterfaceChanges, OfArguments) {
    const auto with = [](std::vector<manifest::Argument> arguments) {
        arguments.push_back(tensor("result", manifest::Role::result));
        Manifest now = two_functions();
        now.functions[1].calls = {call(std::move(arguments))};
        return changes(now);
    };
    EXPECT_THAT(with({tensor("x", manifest::Role::in, 2), tensor("k")}),
                ElementsAre("! argument_kind g: argument 'x' was tensor<float>[1] and is tensor<float>[2]"));
    EXPECT_THAT(with({tensor("x"), tensor("k", manifest::Role::in, 1, ScalarType::float16)}),
                ElementsAre("! argument_kind g: argument 'k' was tensor<float>[1] and is tensor<half>[1]"));
    EXPECT_THAT(with({tensor("k"), tensor("x")}),
                ElementsAre("! argument_order g: its arguments were (x, k) and are (k, x)"));
    EXPECT_THAT(with({tensor("x"), tensor("gain")}),
                ElementsAre("! argument_renamed g: argument 'k' is called 'gain' now"));
    EXPECT_THAT(with({tensor("x")}), ElementsAre("! argument_removed g: argument 'k' is gone"));
    EXPECT_THAT(with({tensor("x"), tensor("k"), tensor("z")}),
                ElementsAre("! argument_added g: argument 'z' is new"));
}

TEST(InterfaceChanges, OfResultsAndOverloads) {
    Manifest now = two_functions();
    now.functions[1].calls.front().arguments.back().element.scalar = ScalarType::float64;
    EXPECT_THAT(changes(now),
                ElementsAre("! result g: its result was tensor<float>[1] and is tensor<double>[1]"));
    now = two_functions();
    now.functions[1].calls.push_back(call({tensor("x", manifest::Role::in, 2)}));
    EXPECT_THAT(changes(now),
                ElementsAre("+ overload_added g: the overload (x: tensor<float>[2]), rank 1 is new"));
    EXPECT_THAT(changes(two_functions(), now),
                ElementsAre("! overload_removed g: the overload (x: tensor<float>[2]), rank 1 is gone"));
}

TEST(InterfaceChanges, OfGradients) {
    Manifest now = two_functions();
    manifest::Call& one = now.functions[1].calls.front();
    one.arguments.front().gradient = manifest::Gradient::never;
    EXPECT_THAT(changes(now), ElementsAre("! gradient_lost g: argument 'x' has no gradient any more"));
    EXPECT_THAT(changes(two_functions(), now),
                ElementsAre("+ gradient_added g: argument 'x' has a gradient now"));
    one.arguments.front().gradient = manifest::Gradient::required;
    EXPECT_THAT(changes(now), ElementsAre("! gradient_required g: argument 'x' must have a gradient now"));
    one.has_backward = false;
    EXPECT_THAT(changes(now),
                ElementsAre("! backward_lost g: the overload (x: tensor<float>[1], k: tensor<float>[1]) -> "
                            "tensor<float>[1], rank 1 has no backward pass any more"));
}

TEST(InterfaceChanges, OfSums) {
    Manifest before = two_functions();
    before.functions[1].calls.front().has_backward = false;
    Manifest now = before;
    now.functions[1].calls.front().arguments.back().accumulate = manifest::Accumulate::sum;
    EXPECT_THAT(changes(now, before),
                ElementsAre("! accumulate g: argument 'result' combines the values of calls in another way"));
    now = before;
    now.functions[1].calls.front().arguments.front().accumulate = manifest::Accumulate::first;
    EXPECT_THAT(changes(now, before), IsEmpty());
}

TEST(InterfaceChanges, OfConstants) {
    Manifest before = two_functions();
    before.constants = {{"N", ScalarType::int32, {"4", "8"}}, {"gone", ScalarType::float32, {"1"}}};
    Manifest now = before;
    EXPECT_THAT(changes(now, before), IsEmpty());
    now.constants = {{"new", ScalarType::int32, {"1"}}, {"N", ScalarType::uint32, {"8"}}};
    EXPECT_THAT(changes(now, before),
                ElementsAre("! constant_type : the constant 'N' was of the type int and is of uint",
                            "! constant_default : the constant 'N' was 4 by default and is 8",
                            "! constant_value : the constant 'N' lists no 4 any more, which CUDA requires",
                            "! constant_removed : the constant 'gone' can't be chosen at run time any more",
                            "+ constant_added : the constant 'new' can be chosen at run time"));
}

TEST(InterfaceChanges, AreReported) {
    Manifest now = two_functions();
    now.functions[1].name = "h";
    now.functions.push_back({"k", "", {call({tensor("x")})}});
    const auto found = interface_changes(two_functions(), now);
    EXPECT_TRUE(breaks_callers(found));
    EXPECT_EQ(interface_report(found, false),
              "breaks callers: g: it is called 'h' now\ncompatible: k: it is new\n"
              "2 changes, 1 of them breaks callers\n");
    EXPECT_EQ(interface_report({found.front()}, true),
              "{\n  \"breaking\": 1,\n  \"changes\": [\n    {\n      \"breaks\": true,\n"
              "      \"change\": \"function_renamed\",\n      \"function\": \"g\",\n"
              "      \"text\": \"it is called 'h' now\"\n    }\n  ]\n}\n");
}

}  // namespace
}  // namespace kf::gen
