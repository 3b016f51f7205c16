// Integers, bools and enums have values that lead into every branch, and stay near tensors.
#include "check/discrete_inputs.h"

#include <gmock/gmock.h>

#include <set>

#include "runtime/core/manifests.h"

namespace kf::check {
namespace {

using manifest::Role;
using test::as;
using test::tensor;
using test::value;
using testing::ElementsAre;
using testing::IsSubsetOf;
using testing::IsSupersetOf;

manifest::Function function_of(std::vector<manifest::Argument> arguments, std::int64_t rank) {
    manifest::Function function;
    function.name = "f";
    manifest::Call& call = function.calls.emplace_back();
    for (manifest::Argument& argument : arguments) {
        for (std::int64_t k = 0; k < argument.call_rank; ++k)
            argument.map.push_back(rank - argument.call_rank + k);
    }
    call.arguments = std::move(arguments);
    test::set_leaves(call);
    call.rank = rank;
    return function;
}

/// The discrete inputs of a call, and all that its settings put into it, by leaf.
struct Made {
    std::vector<DiscreteInput> inputs;
    std::vector<std::vector<std::vector<std::int64_t>>> given;  ///< by setting, by input
};

Made make(const manifest::Function& function, const std::vector<InputFacts>& facts) {
    const manifest::Call& call = function.calls[0];
    const Case whole = cases_of(function, call, {})[0];
    Arguments arguments = lay_out(function, call, whole, {});
    std::mt19937_64 random(4);
    Made made;
    made.inputs = discrete_inputs_of(call, facts, arguments, random);
    for (const Setting& setting : settings_of(made.inputs, random)) {
        made.given.push_back(put(arguments, made.inputs, setting));
    }
    return made;
}

TEST(Choices, MembersBoolsAndConstantsInAllCombinations) {
    manifest::Argument mode = value("mode", ScalarType::uint8);
    mode.members = {{"off", 0}, {"on", 7}, {"also_on", 7}, {"high", 255}};
    const auto function = function_of(
        {mode, value("flag", ScalarType::boolean), value("n"), as(Role::result, value("result"))}, 0);
    const Made made = make(function, std::vector<InputFacts>(4));
    ASSERT_EQ(made.inputs.size(), 2U);
    EXPECT_THAT(made.inputs[0].values, ElementsAre(0, 7, 255));
    EXPECT_THAT(made.inputs[1].values, ElementsAre(0, 1));
    EXPECT_EQ((std::set(made.given.begin(), made.given.end())).size(), 6U);
    EXPECT_EQ(value_text(mode, 7), "on");
    EXPECT_EQ(value_text(mode, 3), "3");
    EXPECT_EQ(value_text(function.calls[0].arguments[1], 1), "true");
}

TEST(Choices, IntegersAreThoseThatCodeComparesWithAndTheirNeighbours) {
    const auto function = function_of({value("n", ScalarType::int32), value("k", ScalarType::uint8),
                                       value("unused", ScalarType::int32), as(Role::result, value("result"))},
                                      0);
    std::vector<InputFacts> facts(4);
    facts[0].compared = {-40, 12, 1000000};
    facts[1].compared = {0, 255, 300};
    facts[2].unused = true;
    const Made made = make(function, facts);
    ASSERT_EQ(made.inputs.size(), 2U);
    EXPECT_THAT(made.inputs[0].values, IsSupersetOf({-41, -40, -39, -1, 0, 1, 11, 12, 13}));
    EXPECT_THAT(made.inputs[0].not_given, ElementsAre(1000000));
    EXPECT_THAT(made.inputs[1].values, IsSupersetOf({0, 1, 254, 255}));
    for (const std::int64_t number : made.inputs[1].values) {
        EXPECT_GE(number, 0);
        EXPECT_LE(number, 255);
    }
    std::set<std::int64_t> given;
    for (const auto& setting : made.given) given.insert(setting[0].begin(), setting[0].end());
    EXPECT_EQ(given.size(), made.inputs[0].values.size());
    EXPECT_LE(made.given.size(), 24U);
}

TEST(Choices, NeighboursInTensorsDiffer) {
    manifest::Argument mode = tensor("mode", 1, ScalarType::int32);
    mode.members = {{"a", 1}, {"b", 2}, {"c", 4}};
    const auto function =
        function_of({mode, tensor("flag", 1, ScalarType::boolean), as(Role::result, tensor("result", 1))}, 1);
    const Made made = make(function, std::vector<InputFacts>(3));
    // Five elements: all members come in each setting, and both bools in all of them together.
    std::set<std::int64_t> flags;
    for (const auto& setting : made.given) {
        EXPECT_THAT(setting[0], ElementsAre(1, 2, 4));
        flags.insert(setting[1].begin(), setting[1].end());
    }
    EXPECT_EQ(flags.size(), 2U);
}

TEST(Choices, NumbersStayNearTensors) {
    manifest::Argument x = test::with_gradient(tensor("x", 1));
    x.kind = manifest::kinds::WholeTensor{manifest::Access::read};
    x.inner_rank = 1;
    x.call_rank = 0;
    const auto function = function_of({tensor("at", 1, ScalarType::int32), value("n", ScalarType::int32), x,
                                       as(Role::result, tensor("result", 1))},
                                      1);
    std::vector<InputFacts> facts(4);
    facts[1].compared = {3, 4000};
    const Made made = make(function, facts);
    // Tensors of integers hold indices.
    ASSERT_EQ(made.inputs.size(), 1U);
    EXPECT_EQ(made.inputs[0].leaf, 1U);
    EXPECT_THAT(made.inputs[0].values, IsSubsetOf({0, 1, 2, 3, 4}));
    EXPECT_THAT(made.inputs[0].not_given, ElementsAre(4000));
}

}  // namespace
}  // namespace kf::check
