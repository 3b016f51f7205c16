// The generated tests of functions in PyTorch: what their classes say.
#include "emit/torch_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tool/emit/plans.h"

namespace kf::gen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string tests_of(const Plan& plan) {
    std::vector<std::string> functions;
    for (const PlannedFunction& function : plan.functions) functions.push_back(function.name);
    auto text = emit_torch_test(plan, functions);
    if (text) return text.value();
    for (const Diagnostic& error : text.errors()) ADD_FAILURE() << format_text(error);
    return {};
}

std::string tests_of(PlannedCall call) {
    return tests_of(testing::plan("m", {{"f", "", {std::move(call)}}}));
}

TEST(TorchTest, HasAClassForEachCallThatTakesTensors) {
    const std::string text = tests_of(testing::polynomial());
    EXPECT_THAT(text, HasSubstr(R"(
class TestPolynomial_1(testing.Operator, testing.Gradients):
    """polynomial(a: value<float>, b: value<float>, c: value<float>, x: tensor<float>[1]) ->
    tensor<float>[1], rank 1
    """

    function = polynomial.polynomial
    arguments = {
        "a": testing.value("float32", gradient=True),
        "b": testing.value("float32", gradient=True),
        "c": testing.value("float32", gradient=True),
        "x": testing.tensor("float32", "i", gradient=True),
    }
    results = {
        "return": testing.tensor("float32", "i", gradient=True),
    }
)"));
    EXPECT_THAT(text, HasSubstr("class TestPolynomial_2("));
    EXPECT_THAT(text, Not(HasSubstr("class TestPolynomial_3("))) << "that of values alone";
}

TEST(TorchTest, OrdersResultsAsTheyComeBack) {
    const std::string text = tests_of(testing::everything());
    EXPECT_THAT(text, HasSubstr("    results = {\n        \"return\": "));
    EXPECT_THAT(text, HasSubstr("\"total\": testing.tensor(\"float32\", \"i\", written=True"));
}

TEST(TorchTest, NamesDimensionsByWhereTheyLieInTheCall) {
    PlannedArgument turned = testing::tensor("turned", 2);
    turned.host.map = {1, 0};
    const PlannedArgument rows = testing::tensor("rows", 1, ScalarType::float16, {3, 2});
    EXPECT_THAT(tests_of(testing::call(2, {turned, rows})),
                HasSubstr("\"turned\": testing.tensor(\"float32\", \"j\", \"i\"),\n"
                          "        \"rows\": testing.tensor(\"float16\", \"i\", 3, 2),\n"));
}

TEST(TorchTest, SaysExtentsThatElementsGiveTheCall) {
    PlannedArgument batch = testing::value("batch", ScalarType::float32, {3});
    batch.host.call_rank = 1;
    batch.host.map = {0};
    batch.host.trailing = {};
    const std::string text = tests_of(testing::call(1, {batch, testing::tensor("x", 1)}));
    EXPECT_THAT(text, HasSubstr("    extents = {\"i\": 3}\n"));
    EXPECT_THAT(text, HasSubstr("\"batch\": testing.value(\"float32\", \"i\"),\n"));
}

TEST(TorchTest, LeavesOutWhatTensorsCannotStandFor) {
    PlannedArgument hash = testing::value("hash", ScalarType::uint32);
    hash.host.kind = manifest::kinds::Generator{manifest::GeneratorKind::wang_hash};
    PlannedCall launched = testing::call(1, {testing::tensor("x", 1)});
    launched.dispatch = manifest::Dispatch::threads;
    for (const PlannedCall& call : {testing::call(1, {hash, testing::tensor("x", 1)}), launched,
                                    testing::call(1, {testing::value("x")})}) {
        const std::string text = tests_of(call);
        EXPECT_THAT(text, HasSubstr("# No function takes what PyTorch's tensors can stand for.\n"));
        EXPECT_THAT(text, Not(HasSubstr("import m")));
    }
    // What the kernel makes by itself isn't given.
    hash.host.kind = manifest::kinds::Generator{manifest::GeneratorKind::call_id};
    const std::string text = tests_of(testing::call(1, {hash, testing::tensor("x", 1)}));
    EXPECT_THAT(text,
                HasSubstr("    arguments = {\n        \"x\": testing.tensor(\"float32\", \"i\"),\n    }\n"));
}

}  // namespace
}  // namespace kf::gen
