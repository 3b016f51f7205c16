// Tests what generators feed: rows of a parameter's type and a kind, and where calls disagree.
#include "plan/kinds/generator.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// One kind given to f(P x) -> float, and what becomes of it: the call's rank, or an error's id.
struct Row {
    std::string parameter;
    std::string kind;
    std::int64_t rank;  // -1: an error
    std::string error = {};
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.kind << " to " << row.parameter; }

class GeneratorTest : public testing::TestWithParam<Row> {};

TEST_P(GeneratorTest, FeedsItsParameters) {
    const Row& row = GetParam();
    const Outcome<Plan> plan = plan_of(R"({"function": "f", "args": {"x": ")" + row.kind + R"("}})",
                                       {function_of("float", "f", {{row.parameter, "x"}})});
    if (row.rank < 0) {
        EXPECT_THAT(ids(plan), ElementsAre(row.error));
        return;
    }
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const PlannedCall& call = plan.value().functions.front().calls.front();
    EXPECT_EQ(call.rank, row.rank);
    const manifest::Argument& argument = call.arguments.front().host;
    ASSERT_TRUE(std::holds_alternative<manifest::kinds::Generator>(argument.kind));
    EXPECT_EQ(generator_text(std::get<manifest::kinds::Generator>(argument.kind).generator, argument.rank),
              row.kind);
    EXPECT_EQ(has_host_value(argument), !row.kind.ends_with("_id"));
    EXPECT_EQ(call.arguments.back().host.rank, row.rank);
    EXPECT_EQ(argument.map.size(), static_cast<std::size_t>(argument.call_rank));
}

const std::vector<Row> generator_rows{
    {"int", "call_id", 1},
    {"uint", "call_id", 1},
    {"int64_t", "call_id", 1},
    {"uint64_t", "call_id", 1},
    {"int2", "call_id", 2},
    {"uint3", "call_id", 3},
    {"int64_t4", "call_id", 4},
    {"int[1]", "call_id", 1},
    {"uint[5]", "call_id", 5},
    {"float", "call_id", -1, "argument-type"},
    {"bool2", "call_id", -1, "argument-type"},
    {"int16_t", "call_id", -1, "argument-type"},
    {"uint8_t3", "call_id", -1, "argument-type"},
    {"int2x2", "call_id", -1, "argument-type"},
    {"int2[2]", "call_id", -1, "argument-type"},
    {"float3", "thread_id", -1, "argument-type"},
    {"int", "thread_id", 0},
    {"uint3", "thread_id", 0},
    {"uint[2]", "thread_id", 0},
    {"int", "grid[1]", 1},
    {"int2", "grid[2]", 2},
    {"uint[3]", "grid[3]", 3},
    {"int[1]", "grid[1]", 1},
    {"int", "grid[2]", -1, "argument-rank"},
    {"int2", "grid[1]", -1, "argument-rank"},
    {"int2", "grid[3]", -1, "argument-rank"},
    {"int[3]", "grid[2]", -1, "argument-rank"},
    {"float2", "grid[2]", -1, "argument-type"},
    {"int", "range", 1},
    {"uint64_t", "range", 1},
    {"int[1]", "range", 1},
    {"int2", "range", -1, "argument-rank"},
    {"half", "range", -1, "argument-type"},
    {"uint", "wang_hash", 0},
    {"int", "wang_hash", 0},
    {"uint4", "wang_hash", 0},
    {"int2x3", "wang_hash", 0},
    {"uint2[3]", "wang_hash", 0},
    {"float", "wang_hash", -1, "argument-type"},
    {"uint64_t", "wang_hash", -1, "argument-type"},
    {"uint16_t", "wang_hash", -1, "argument-type"},
    {"float", "rand_float", 0},
    {"float3", "rand_float", 0},
    {"float3x3", "rand_float", 0},
    {"float[7]", "rand_float", 0},
    {"double", "rand_float", -1, "argument-type"},
    {"half2", "rand_float", -1, "argument-type"},
    {"int", "rand_float", -1, "argument-type"},
};
INSTANTIATE_TEST_SUITE_P(Rows, GeneratorTest, testing::ValuesIn(generator_rows));

TEST(Generators, ShareTheCallWithTensors) {
    const auto functions = {function_of("float", "f", {{"int2", "at"}, {"float", "x"}})};
    const auto rank = [&](const std::string& args) {
        const Outcome<Plan> plan = plan_of(R"({"function": "f", "args": {)" + args + "}}", functions);
        return plan ? plan.value().functions.front().calls.front().rank : -1;
    };
    EXPECT_EQ(rank(R"("at": "grid[2]", "x": "value")"), 2);
    EXPECT_EQ(rank(R"("at": "grid[2]", "x": "tensor[3]")"), 3);
    EXPECT_EQ(rank(R"("at": "call_id", "x": "tensor[1]")"), 2);
    EXPECT_EQ(rank(R"("at": "call_id", "x": "tensor[2]")"), 2);
    EXPECT_EQ(rank(R"("at": "thread_id", "x": "tensor[3]")"), 3);
    EXPECT_EQ(rank(R"("at": {"kind": "grid[2]", "map": [0, 2]}, "x": {"kind": "tensor[1]", "map": [1]})"), 3);
}

TEST(Generators, TellWhereTheyDontFit) {
    const auto functions = {function_of("float", "f", {{"int2", "at"}, {"float", "x"}})};
    const auto error = [&](const std::string& call) {
        const Outcome<Plan> plan = plan_of(R"({"function": "f", )" + call + "}", functions);
        return plan ? Diagnostic{} : plan.errors().front();
    };
    Diagnostic found = error(R"("args": {"at": "call_id", "x": "tensor[3]"})");
    EXPECT_EQ(found.id, "argument-rank");
    EXPECT_THAT(found.message,
                HasSubstr("argument 'at': the call's rank is 3, but a parameter of type 'int2' takes a "
                          "call_id of 2 indices"));
    EXPECT_EQ(found.location.line, 1);
    EXPECT_GT(found.location.column, 90);
    found = error(R"("args": {"at": "grid[2]", "x": "value"}, "result": "wang_hash")");
    EXPECT_EQ(found.id, "generator-output");
    EXPECT_THAT(found.message, HasSubstr("the result: 'wang_hash' makes values that go into a call"));
    found = error(R"("args": {"at": {"kind": "grid[2]", "map": [0]}, "x": "value"})");
    EXPECT_EQ(found.id, "argument-map");
    found = error(R"("args": {"at": ["grid[2]", "call_id"], "x": "tensor[2]"})");
    EXPECT_EQ(found.id, "generator-alternatives");
    EXPECT_THAT(found.message, HasSubstr("argument 'at': the host gives nothing for a call_id"));
    found = error(R"("args": {"at": "grid[2]", "x": "rand_float"}, "backward": {"inputs": ["x"]})");
    EXPECT_EQ(found.id, "backward-input");
    found = error(R"("args": {"at": "grid[2]", "x": "rand_float"}, "backward": true)");
    EXPECT_EQ(found.id, "backward-input") << "there is nothing to differentiate";
    const Outcome<Plan> out = plan_of(R"({"function": "f", "args": {"i": "range"}})",
                                      {function_of("void", "f", {{"int", "i", Direction::out}})});
    EXPECT_THAT(ids(out), ElementsAre("generator-output"));
}

TEST(Generators, AreNotDifferentiated) {
    const Outcome<Plan> plan =
        plan_of(R"({"function": "f", "args": {"noise": "rand_float", "x": "tensor[1]"}, "backward": true})",
                {function_of("float", "f", {{"float", "noise"}, {"float", "x"}})});
    ASSERT_TRUE(plan);
    const auto& arguments = plan.value().functions.front().calls.front().arguments;
    EXPECT_TRUE(arguments[0].host.differentiable);
    EXPECT_EQ(arguments[0].host.gradient, manifest::Gradient::never);
    EXPECT_EQ(arguments[1].host.gradient, manifest::Gradient::automatic);
}

}  // namespace
}  // namespace kf::gen
