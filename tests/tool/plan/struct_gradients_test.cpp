// Structs that aren't IDifferentiable, in calls that are differentiated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::array_of;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Type plain() { return struct_of("Ray", {{"pos", type_named("float3")}, {"id", type_named("int")}}, false); }

/// float f(<type> ray, float x)
Function taking(const Type& type, Direction direction = Direction::in) {
    Function function = function_of("float", "f", {{"float", "ray", direction}, {"float", "x"}});
    function.parameters[0].type = type;
    return function;
}

std::vector<std::string> warnings_of(const std::string& call, const Function& function) {
    const auto plan = plan_of(call, {function});
    EXPECT_TRUE(plan) << ids(plan).front();
    std::vector<std::string> texts;
    for (const Diagnostic& warning : plan.warnings()) {
        EXPECT_EQ(warning.id, "struct-gradient");
        EXPECT_EQ(warning.severity, Severity::warning);
        EXPECT_EQ(warning.location.file, "functions.kf.json");
        EXPECT_GT(warning.location.column, 0);
        texts.push_back(warning.message);
        texts.insert(texts.end(), warning.notes.begin(), warning.notes.end());
    }
    return texts;
}

constexpr const char* with_backward =
    R"({"function": "f", "args": {"ray": "value", "x": "tensor[1]"}, "backward": true})";

TEST(StructGradients, AreMissingWithAWarning) {
    EXPECT_THAT(
        warnings_of(with_backward, taking(plain())),
        ElementsAre("argument 'ray': function 'f' is differentiated, and no gradient reaches the fields of "
                    "struct 'Ray', which isn't IDifferentiable",
                    "declare it 'struct Ray : IDifferentiable'",
                    "if it is meant to have no gradient, mark the parameter no_diff"));
    // In each form that a call may be given it, and once however many overloads there are.
    for (const std::string kind : {R"("tensor[1]")", R"({"fields": {"pos": "tensor[1]", "id": "value"}})",
                                   R"(["value", "tensor[1]"])"}) {
        const auto texts = warnings_of(R"({"function": "f", "args": {"ray": )" + kind +
                                           R"(, "x": ["value", "tensor[1]"]}, "backward": true})",
                                       taking(plain()));
        EXPECT_GE(texts.size(), 3U) << kind;
        EXPECT_LE(texts.size(), 6U) << kind;
    }
}

TEST(StructGradients, AreMissingInInnerStructsToo) {
    const Type outer = struct_of("Scene", {{"rays", array_of(plain(), 2)}, {"gain", type_named("float")}});
    const auto texts = warnings_of(with_backward, taking(outer));
    ASSERT_EQ(texts.size(), 3U);
    EXPECT_THAT(texts[0], HasSubstr("argument 'ray'"));
    EXPECT_THAT(texts[0], HasSubstr("struct 'Ray', which isn't"));
    const Type marked =
        struct_of("Scene", {{"rays", array_of(plain(), 2), true}, {"gain", type_named("float")}});
    EXPECT_THAT(warnings_of(with_backward, taking(marked)), IsEmpty());
}

TEST(StructGradients, OfResultsDoNotFlowBack) {
    Function made = taking(struct_of("Ray", {{"pos", type_named("float3")}}));
    made.result = struct_of("Hit", {{"at", type_named("float3")}, {"t", type_named("float")}}, false);
    EXPECT_THAT(warnings_of(with_backward, made),
                ElementsAre("the result: function 'f' is differentiated, and no gradient flows back through "
                            "struct 'Hit', which isn't IDifferentiable",
                            "declare it 'struct Hit : IDifferentiable'",
                            "if it is meant to have no gradient, mark the function's result no_diff"));
    made.no_diff_result = true;
    EXPECT_THAT(warnings_of(with_backward, made), IsEmpty());
}

TEST(StructGradients, OfAnObjectAreMeantByTheMethod) {
    Function method = function_of("float", "Ray.f", {{"float", "this"}, {"float", "x"}});
    method.parameters[0].type = plain();
    method.member = Member::method;
    const std::string call =
        R"({"function": "Ray.f", "this": "value", "args": {"x": "tensor[1]"}, "backward": true})";
    const auto texts = warnings_of(call, method);
    ASSERT_EQ(texts.size(), 3U);
    EXPECT_THAT(texts[0], HasSubstr("argument 'this'"));
    EXPECT_THAT(texts[2], HasSubstr("mark the method [NoDiffThis]"));
    method.parameters[0].no_diff = true;
    method.parameters[0].no_diff_written = true;
    EXPECT_THAT(warnings_of(call, method), IsEmpty());
}

TEST(StructGradients, OfTensorsStayWhateverHoldsThem) {
    const Type paint = struct_of(
        "Paint", {{"color", type_named("DiffTensor<float, 1>")}, {"strength", type_named("float")}}, false);
    const std::string call = R"({"function": "f", "args": {"ray": {"fields": {"color": "tensor[1]",
                                 "strength": "value"}}, "x": "tensor[1]"}, "backward": true})";
    const auto texts = warnings_of(call, taking(paint));
    ASSERT_EQ(texts.size(), 3U);
    EXPECT_THAT(texts[0], HasSubstr("argument 'ray'"));
    EXPECT_THAT(texts[2], HasSubstr("mark its field 'ray.strength' no_diff"));
    Type marked = paint;
    marked.fields[1].no_diff = true;
    EXPECT_THAT(warnings_of(call, taking(marked)), IsEmpty());
}

TEST(StructGradients, AreNotMissedWhereNobodyAsks) {
    EXPECT_THAT(
        warnings_of(R"({"function": "f", "args": {"ray": "value", "x": "tensor[1]"}})", taking(plain())),
        IsEmpty());
    EXPECT_THAT(warnings_of(R"({"function": "f", "args": {"ray": "value", "x": "tensor[1]"},
                                "backward": {"inputs": ["x"]}})",
                            taking(plain())),
                IsEmpty());
    EXPECT_THAT(warnings_of(R"({"function": "f", "args": {"ray": {"kind": "value", "grad": false},
                                                          "x": "tensor[1]"}, "backward": true})",
                            taking(plain())),
                IsEmpty());
    EXPECT_THAT(warnings_of(with_backward, taking(struct_of("Ids", {{"id", type_named("int2")}}, false))),
                IsEmpty());
    EXPECT_THAT(warnings_of(with_backward, taking(struct_of("Ray", {{"pos", type_named("float3")}}))),
                IsEmpty());
    Function marked = taking(plain());
    marked.parameters[0].no_diff_written = true;
    EXPECT_THAT(warnings_of(with_backward, marked), IsEmpty());
    // A tensor that is read has no derivative, whatever its elements.
    Function reading = taking(type_named("Tensor<float, 1>"));
    reading.parameters[0].type.element = {plain()};
    reading.parameters[0].type.name = "Tensor<Ray, 1>";
    EXPECT_THAT(warnings_of(R"({"function": "f", "args": {"ray": "tensor[1]", "x": "tensor[1]"},
                                "backward": true})",
                            reading),
                IsEmpty());
}

}  // namespace
}  // namespace kf::gen
