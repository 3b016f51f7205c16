// Tests what kfgen says of kinds that a parameter can't take, and of outputs in particular.
#include <gmock/gmock.h>

#include "plan/resolve.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A parameter, the kind that it is given, and what the one error says.
struct Refusal {
    std::string parameter;
    std::string kind;
    std::string id;
    std::string message;
    std::string note;
};

TEST(RefusalTest, SaysWhatIsWrongAndWhatDoes) {
    for (const Refusal& row :
         {Refusal{"float[4]", "tensor<int[4]>[1]", "argument-type", "of int[4] can't feed", "pass float[4]"},
          Refusal{"float3[4]", "tensor<int3[4]>[1]", "argument-type", "of int3[4] can't feed",
                  "pass float3[4]"},
          Refusal{"float", "tensor<Ray>[1]", "kind-element", "no scalar, vector, matrix or sized array",
                  "as in float2x3"},
          Refusal{"float", "tensor<flaot2>[1]", "kind-element", "'flaot2'", "did you mean 'float2'?"},
          Refusal{"int8_t2x3", "tensor[1]", "type-not-supported", "'int8_t2x3'", "int8_t3[2]"}}) {
        SCOPED_TRACE(row.kind + " to " + row.parameter);
        const Function function = function_of("void", "f", {{row.parameter, "x"}});
        const auto plan = plan_of(R"({"function": "f", "args": {"x": ")" + row.kind + R"("}})", {function});
        ASSERT_THAT(ids(plan), ElementsAre(row.id));
        const Diagnostic& error = plan.errors().front();
        EXPECT_THAT(error.message, HasSubstr(row.message));
        EXPECT_THAT(error.notes, testing::Contains(HasSubstr(row.note)));
        EXPECT_EQ(error.location.file, "functions.kf.json");
        EXPECT_GT(error.location.column, 0);
    }
}

TEST(RefusalTest, TypesOfSlangsOwn) {
    for (const auto& [type, note] : {std::pair{"Optional<float>", "a struct with a bool and the value"},
                                     std::pair{"Tuple<float, int>", "a struct with a field for each part"},
                                     std::pair{"DifferentialPair<float>", "diffPair(x, dx)"}}) {
        SCOPED_TRACE(type);
        Function function = function_of("void", "f", {{"float", "x"}});
        function.parameters[0].type = test::struct_of(type, {});
        for (const char* kind : {"value", "tensor[1]"}) {
            const auto plan =
                plan_of(std::string(R"({"function": "f", "args": {"x": ")") + kind + R"("}})", {function});
            ASSERT_THAT(ids(plan), ElementsAre("type-not-supported"));
            EXPECT_THAT(plan.errors()[0].message,
                        HasSubstr("argument 'x': type '" + std::string(type) + "' is Slang's own"));
            EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr(note)));
        }
    }
}

TEST(RefusalTest, BitFieldsAndLargeMatrices) {
    Function function = function_of("void", "f", {{"float", "x"}});
    Type& type = function.parameters[0].type;
    const auto plan = [&](const std::string& kind) {
        return plan_of(R"({"function": "f", "args": {"x": ")" + kind + R"("}})", {function});
    };
    type = test::struct_of("Packed", {{"$bit_field_backing_0", test::type_named("uint")}});
    for (const char* kind : {"value", "tensor[1]"}) {
        ASSERT_THAT(ids(plan(kind)), ElementsAre("struct-layout")) << kind;
        EXPECT_THAT(plan(kind).errors()[0].message, HasSubstr("struct 'Packed' has bit fields"));
    }
    type = {};
    type.name = type.link_extent = "matrix<float,4,5>";
    ASSERT_THAT(ids(plan("value")), ElementsAre("type-not-supported"));
    EXPECT_THAT(plan("value").errors()[0].notes, ElementsAre(HasSubstr("a matrix of up to 4 rows")));
    type.name = type.link_extent = "vector<float,N>";
    EXPECT_THAT(plan("value").errors()[0].notes, ElementsAre(HasSubstr("linking decides")));
}

TEST(RefusalTest, ElementsThatDontDivideAreSpelledAsTheSpecDoes) {
    const auto plan = plan_of(R"({"function": "f", "args": {"x": "tensor<float[2]>[1]"}})",
                              {function_of("void", "f", {{"float[3]", "x"}})});
    ASSERT_THAT(ids(plan), ElementsAre("argument-type"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("are float[2], which don't divide into 'float[3]'"));
}

/// What is wrong with all elements of an array is said of its first.
TEST(RefusalTest, ArraysAreRefusedOnce) {
    struct Case {
        Type type;
        const char* kind;
        const char* id;
        const char* message;
        const char* note;
    };
    const Type tensor = test::type_named("Tensor<float, 1>");
    for (const Case& one :
         {Case{test::array_of(tensor, 2), "value", "argument-type", "argument 'x[0]': 'value' can't feed",
               "tensor[1]"},
          Case{test::array_of(test::array_of(tensor, 2), 3), "tensor[0]", "argument-rank", "'x[0][0]'", ""},
          Case{test::array_of(tensor, 0), "tensor[1]", "type-not-supported",
               "'x': 'Tensor<float, 1>[0]' is an array without a size", "state how many"},
          Case{test::array_of(tensor, 257), "tensor[1]", "type-not-supported",
               "'x': the elements of 'Tensor<float, 1>[257]' make more than 256 arguments",
               "one buffer or tensor"},
          Case{test::array_of(test::array_of(tensor, 16), 17), "tensor[1]", "type-not-supported",
               "'x': the elements of 'Tensor<float, 1>[16][17]' make more than 256", ""}}) {
        SCOPED_TRACE(one.message);
        Function function = function_of("void", "f", {{"float", "x"}});
        function.parameters[0].type = one.type;
        const auto plan =
            plan_of(R"({"function": "f", "args": {"x": ")" + std::string(one.kind) + R"("}})", {function});
        ASSERT_THAT(ids(plan), ElementsAre(one.id));
        EXPECT_THAT(plan.errors()[0].message, HasSubstr(one.message));
        if (*one.note != '\0') {
            EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr(one.note)));
        }
    }
}

TEST(RefusalTest, MatricesOfOneRowOrColumnAreVectors) {
    for (const auto& [rows, columns] : {std::pair{1, 3}, std::pair{3, 1}}) {
        Function function = function_of("float2x2", "f", {{"float2x2", "x"}});
        for (Type* type : {&function.result, &function.parameters[0].type}) {
            type->rows = rows;
            type->columns = columns;
        }
        const auto plan = plan_of(R"({"function": "f", "args": {"x": "tensor[1]"}})", {function});
        ASSERT_THAT(ids(plan), ElementsAre("type-not-supported", "type-not-supported"));
        for (const Diagnostic& error : plan.errors())
            EXPECT_THAT(error.notes, ElementsAre("declare it float3"));
    }
}

TEST(RefusalTest, AValueIsWrittenByOneCallOnly) {
    for (const Direction direction : {Direction::out, Direction::inout}) {
        const std::vector<Function> functions{function_of("void", "f", {{"float", "x", direction}})};
        EXPECT_TRUE(plan_of(R"({"function": "f", "args": {"x": "value"}})", functions));
        const auto plan = plan_of(R"({"function": "f", "args": {"x": "value<float2x3>"}})", functions);
        ASSERT_THAT(ids(plan), ElementsAre("argument-type"));
        EXPECT_THAT(plan.errors()[0].message, HasSubstr("'x': 'value<float2x3>'"));
        EXPECT_THAT(plan.errors()[0].notes, ElementsAre("give it tensor[2]"));
    }
    EXPECT_THAT(ids(plan_of(R"({"function": "f", "args": {"x": "value<float3>"}, "result": "value<float3>"})",
                            {function_of("float", "f", {{"float", "x"}})})),
                ElementsAre("argument-type"));
}

TEST(RefusalTest, WhatReturnsNothingHasNoResult) {
    const std::vector<Function> functions{
        function_of("void", "f", {{"float", "x"}, {"float", "y", Direction::out}})};
    const std::string call = R"({"function": "f", "args": {"x": "tensor[1]", "y": "tensor[1]"}, "result": )";
    EXPECT_TRUE(plan_of(call + R"("auto"})", functions));
    const auto plan = plan_of(call + R"("tensor[1]"})", functions);
    ASSERT_THAT(ids(plan), ElementsAre("argument-unknown"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("returns nothing"));
    EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr("\"args\": y")));
}

TEST(RefusalTest, OneOfSeveralCombinationsSaysWhichOneItIs) {
    const std::vector<Function> functions{
        function_of("void", "f", {{"float", "x"}, {"float", "y", Direction::out}})};
    const auto plan =
        plan_of(R"({"function": "f", "args": {"x": ["value", "tensor[1]"], "y": ["value", "tensor[1]"]}})",
                functions);
    ASSERT_THAT(ids(plan), ElementsAre("output-broadcast"));
    EXPECT_THAT(plan.errors()[0].notes, testing::Contains(HasSubstr("'x' has call rank 1")));
    const auto alone = plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}})", functions);
    ASSERT_THAT(ids(alone), ElementsAre("output-broadcast"));
    EXPECT_THAT(alone.errors()[0].notes, testing::Each(testing::Not(HasSubstr("alternatives"))));
}

TEST(RefusalTest, WhatMayNotBroadcastHasOneRank) {
    const std::vector<Function> functions{
        function_of("float", "blend", {{"float", "from"}, {"float", "to"}, {"float", "weight"}})};
    const auto blend = [&](const std::string& from, const std::string& to, const std::string& weight) {
        return plan_of(R"({"function": "blend", "strict_broadcasting": true, "args": {"from": )" + from +
                           R"(, "to": )" + to + R"(, "weight": )" + weight + "}}",
                       functions);
    };
    const std::string rows = R"("tensor[2]")";
    const auto plan = blend(rows, R"({"kind": "tensor[1]", "map": [0]})", R"("value")");
    ASSERT_THAT(ids(plan), ElementsAre("strict-broadcasting"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("'to' has call rank 1 and 'from' call rank 2"));
    EXPECT_GT(plan.errors()[0].location.column, 0);
    EXPECT_THAT(plan.errors()[0].notes, testing::Each(testing::Not(HasSubstr("alternatives"))));
    const auto several = blend(rows, rows, R"(["value", "tensor[1]"])");
    ASSERT_THAT(ids(several), ElementsAre("strict-broadcasting"));
    EXPECT_THAT(several.errors()[0].notes, testing::Contains(HasSubstr("alternatives multiply")));
    // Of one rank, and values and generators without a shape beside them.
    EXPECT_TRUE(blend(rows, rows, R"("value")"));
    EXPECT_TRUE(blend(rows, R"("rand_float")", rows));
    EXPECT_TRUE(blend(rows, R"(["value", "tensor[2]"])", rows));
}

}  // namespace
}  // namespace kf::gen
