// Tests which constants feed which parameters, and what is said of the others.
#include "plan/kinds/constant.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

/// A value, as a spec states it for f(P x) -> float, and what artifacts hold; or an error's id.
struct ConstantRow {
    std::string parameter;
    std::string value;
    std::vector<std::string> scalars;
    std::string error = {};
};

void PrintTo(const ConstantRow& row, std::ostream* out) { *out << row.value << " to " << row.parameter; }

Outcome<Plan> plan_for(const std::string& parameter, const std::string& value) {
    return plan_of(R"({"function": "f", "args": {"x": {"kind": "constant", "value": )" + value + "}}}",
                   {function_of("float", "f", {{parameter, "x"}})});
}

class ConstantTest : public testing::TestWithParam<ConstantRow> {};

TEST_P(ConstantTest, FeedsItsParameters) {
    const ConstantRow& row = GetParam();
    const Outcome<Plan> plan = plan_for(row.parameter, row.value);
    if (!row.error.empty()) {
        EXPECT_THAT(ids(plan), ElementsAre(row.error));
        return;
    }
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const PlannedCall& call = plan.value().functions.front().calls.front();
    EXPECT_EQ(call.rank, 0);
    const manifest::Argument& argument = call.arguments.front().host;
    ASSERT_TRUE(std::holds_alternative<manifest::kinds::Constant>(argument.kind));
    EXPECT_THAT(std::get<manifest::kinds::Constant>(argument.kind).scalars, ElementsAreArray(row.scalars));
    EXPECT_FALSE(has_host_value(argument));
}

const std::vector<ConstantRow> constant_rows{
    {"bool", "true", {"true"}},
    {"bool", "1", {}, "constant-value"},
    {"int", "true", {}, "constant-value"},
    {"int", "-2147483648", {"-2147483648"}},
    {"int", "2147483648", {}, "constant-value"},
    {"int", "3.0", {}, "constant-value"},
    {"int", "\"three\"", {}, "constant-value"},
    {"int", "-0", {"0"}},
    {"int8_t", "-129", {}, "constant-value"},
    {"uint8_t", "255", {"255"}},
    {"uint8_t", "256", {}, "constant-value"},
    {"uint16_t", "-1", {}, "constant-value"},
    {"uint", "4294967295", {"4294967295"}},
    {"int64_t", "-9223372036854775808", {"-9223372036854775808"}},
    {"int64_t", "9223372036854775808", {}, "constant-value"},
    {"uint64_t", "18446744073709551615", {"18446744073709551615"}},
    {"uint64_t", "18446744073709551616", {}, "constant-value"},
    {"half", "0.1", {"0.1"}},
    {"half", "65505", {}, "constant-value"},
    {"float", "0.1", {"0.1"}},
    {"float", "16777217", {"16777216"}},
    {"float", "1e39", {}, "constant-value"},
    {"float", "true", {}, "constant-value"},
    {"double", "1e39", {"1e+39"}},
    {"float3", "[1, 2.5, -3]", {"1", "2.5", "-3"}},
    {"float3", "[1, 2]", {}, "argument-type"},
    {"float3", "1", {}, "argument-type"},
    {"float", "[1]", {}, "argument-type"},
    {"float2x3", "[[1, 2, 3], [4, 5, 6]]", {"1", "2", "3", "4", "5", "6"}},
    {"float2x3", "[[1, 2], [3, 4], [5, 6]]", {}, "argument-type"},
    {"int[2]", "[7, 8]", {"7", "8"}},
    {"float2[2]", "[[1, 2], [3, 4]]", {"1", "2", "3", "4"}},
    {"Tensor<float, 1>", "[1, 2]", {}, "type-not-supported"},
    {"int2", "[[1], [2]]", {}, "argument-type"},
};

INSTANTIATE_TEST_SUITE_P(Rows, ConstantTest, testing::ValuesIn(constant_rows));

TEST(Constant, SaysEveryScalarThatDoesNotFitAtItsPlace) {
    const Outcome<Plan> plan = plan_for("int3", "[1, 2.5, true]");
    ASSERT_THAT(ids(plan), ElementsAre("constant-value", "constant-value"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("argument 'x': 2.5 is no value of"));
    EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr("whole numbers")));
    EXPECT_LT(plan.errors()[0].location.column, plan.errors()[1].location.column);
}

TEST(Constant, GoesIntoACallOnly) {
    const Outcome<Plan> plan =
        plan_of(R"({"function": "f", "args": {"x": "value"}, "result": {"kind": "constant", "value": 1}})",
                {function_of("float", "f", {{"float", "x"}})});
    ASSERT_THAT(ids(plan), ElementsAre("argument-type"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("the result: a constant goes into a call"));
}

/// The errors' ids of a spec whose function's argument is given this way.
std::vector<std::string> errors_of(const std::string& kind) {
    const Outcome<Spec> parsed =
        parse_spec(R"({"version": 1, "name": "s", "modules": ["m.slang"], "calls": [)"
                   R"({"function": "f", "args": {"x": )" +
                       kind + "}}]}",
                   "s.kf.json");
    std::vector<std::string> found;
    if (parsed) return found;
    for (const Diagnostic& error : parsed.errors()) found.push_back(error.id);
    return found;
}

TEST(Constant, NeedsItsValueAndHasNoOtherOption) {
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": 1})"), ElementsAre());
    EXPECT_THAT(errors_of(R"("constant")"), ElementsAre("spec-kind-option"));
    EXPECT_THAT(errors_of(R"({"kind": "constant"})"), ElementsAre("spec-kind-option"));
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": 1, "map": [0]})"),
                ElementsAre("spec-kind-option"));
    EXPECT_THAT(errors_of(R"({"kind": "value", "value": 1})"), ElementsAre("spec-kind-option"));
}

TEST(Constant, HasListsOfOneLength) {
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": [[1, 2], [3, 4]]})"), ElementsAre());
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": [1, [2]]})"), ElementsAre("spec-value"));
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": [[1], 2]})"), ElementsAre("spec-value"));
    EXPECT_THAT(errors_of(R"({"kind": "constant", "value": [[1, 2], [3]]})"), ElementsAre("spec-value"));
}

}  // namespace
}  // namespace kf::gen
