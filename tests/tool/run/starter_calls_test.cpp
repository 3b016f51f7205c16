// The kinds that a starter spec gives parameters.
#include "run/starter_calls.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines(Function function, bool is_overload = false) {
    function.backward_differentiable = false;
    return call_lines(starter_calls(function, is_overload).front());
}

TEST(StarterCalls, GivesInputsAlternativesWhileTheyAreFew) {
    EXPECT_THAT(lines(test::function_of("float", "f", {{"float", "x"}})),
                ElementsAre("\"function\": \"f\",", "\"args\": {\"x\": \"tensor[1]\"}"));
    EXPECT_THAT(lines(test::function_of("float", "f", {{"float", "x"}, {"float", "k"}})).back(),
                "\"args\": {\"x\": \"tensor[1]\", \"k\": [\"value\", \"tensor[1]\"]}");
    const std::vector<test::ParameterText> four{{"float", "a"}, {"float", "b"}, {"float", "c"}, {"int", "d"}};
    EXPECT_THAT(
        lines(test::function_of("float", "f", four)).back(),
        "\"args\": {\"a\": \"tensor[1]\", \"b\": \"tensor[1]\", \"c\": \"tensor[1]\", \"d\": \"tensor[1]\"}");
}

TEST(StarterCalls, TellsOverloadsApartByTheirElements) {
    EXPECT_THAT(lines(test::function_of("float", "f", {{"float2", "x"}}), true).back(),
                "\"args\": {\"x\": \"tensor<float2>[1]\"}");
}

TEST(StarterCalls, GivesFieldsThatAreTakenWholeTheirKinds) {
    const Type pair = test::struct_of(
        "Pair", {{"view", test::type_named("TensorView<float>")}, {"scale", test::type_named("float")}});
    Function function =
        test::function_of("float", "f", {{"uint", "i"}, {"float", "pairs"}, {"float", "more"}});
    function.parameters[1].type = test::array_of(pair, 2);
    function.parameters[2].type =
        test::struct_of("More", {{"pair", pair}, {"k", test::type_named("float3")}});
    const std::string fields = "{\"fields\": {\"view\": \"tensor[1]\", \"scale\": \"value\"}}";
    EXPECT_EQ(lines(function).back(), "\"args\": {\"i\": \"tensor[1]\", \"pairs\": " + fields +
                                          ", \"more\": {\"fields\": {\"pair\": " + fields +
                                          ", \"k\": \"value\"}}}");
}

TEST(StarterCalls, SaysHowManyThreadsWhereTheSourceDoesNot) {
    Function function = test::function_of("void", "f", {{"TensorView<float>", "x"}});
    function.entry = EntryPoint::compute;
    EXPECT_EQ(lines(function).back(), "\"threads\": [256]");
    function.group_size = {32, 1, 1};
    EXPECT_EQ(lines(function).back(), "\"args\": {\"x\": \"tensor[1]\"}");
}

TEST(StarterCalls, TriesLessWhereMoreFails) {
    Function function = test::function_of("float", "f", {{"float", "x"}});
    function.backward_differentiable = true;
    std::vector<std::string> tried;
    for (const StarterCall& call : starter_calls(function, false))
        tried.push_back(call.arguments.front().kinds + (call.backward ? " backward" : ""));
    EXPECT_THAT(tried,
                ElementsAre("\"tensor[1]\" backward", "\"tensor[1]\"", "\"value\" backward", "\"value\""));
}

}  // namespace
}  // namespace kf::gen
