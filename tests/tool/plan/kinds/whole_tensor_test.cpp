// Tests what feeds parameters that are tensors, and what passes and gradients become of them.
#include "plan/kinds/whole_tensor.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Access;
using manifest::Gradient;
using test::function_of;
using test::ids;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One kind given to void f(P x), and what becomes of it: the call's rank, or an error's id.
struct TensorRow {
    std::string parameter;
    std::string kind;
    std::int64_t rank;  // -1: an error
    std::string error;
    std::vector<std::int64_t> trailing = {};
};

void PrintTo(const TensorRow& row, std::ostream* out) { *out << row.kind << " to " << row.parameter; }

std::string call_with(const std::string& kind, const std::string& more = "") {
    return R"({"function": "f", "args": {"x": )" + kind + "}" + more + "}";
}

class TensorParameterTest : public testing::TestWithParam<TensorRow> {};

TEST_P(TensorParameterTest, TakesTheLastDimensions) {
    const TensorRow& row = GetParam();
    const Outcome<Plan> plan =
        plan_of(call_with('"' + row.kind + '"'), {function_of("void", "f", {{row.parameter, "x"}})});
    if (row.rank < 0) {
        ASSERT_THAT(ids(plan), ElementsAre(row.error));
        EXPECT_THAT(plan.errors().front().message, HasSubstr("argument 'x'"));
        EXPECT_EQ(plan.errors().front().location.line, 1);
        return;
    }
    ASSERT_TRUE(plan) << format_text(plan.errors().front());
    const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
    EXPECT_EQ(call.rank, row.rank);
    const manifest::Argument& host = call.arguments.at(0).host;
    EXPECT_EQ(host.call_rank, row.rank);
    EXPECT_EQ(host.inner_rank, call.arguments.at(0).type.extent);
    EXPECT_EQ(host.trailing, row.trailing);
    EXPECT_EQ(host.role, manifest::Role::in);
    EXPECT_TRUE(std::holds_alternative<manifest::kinds::WholeTensor>(host.kind));
}

INSTANTIATE_TEST_SUITE_P(
    Table, TensorParameterTest,
    testing::Values(TensorRow{"Tensor<float, 1>", "tensor[1]", 0, ""},
                    TensorRow{"Tensor<float, 1>", "tensor<float>[1]", 0, ""},
                    TensorRow{"Tensor<float, 1>", "tensor[2]", 1, ""},
                    TensorRow{"Tensor<float, 1>", "tensor[8]", 7, ""},
                    TensorRow{"Tensor<float, 3>", "tensor[3]", 0, ""},
                    TensorRow{"Tensor<float3, 2>", "tensor[2]", 0, "", {3}},
                    TensorRow{"Tensor<float3, 2>", "tensor<float>[3]", 0, "", {3}},
                    TensorRow{"Tensor<float3, 2>", "tensor<float>[5]", 2, "", {3}},
                    TensorRow{"Tensor<float2x3, 1>", "tensor<float3>[3]", 1, "", {2, 3}},
                    TensorRow{"Tensor<float[4], 1>", "tensor<float>[2]", 0, "", {4}},
                    TensorRow{"Tensor<bool, 1>", "tensor[2]", 1, ""},
                    TensorRow{"Tensor<float, 2>", "tensor<float3>[1]", 0, ""},
                    TensorRow{"AtomicTensor<double3, 1>", "tensor[1]", 0, "", {3}},
                    TensorRow{"RWDiffTensor<half, 1>", "tensor[1]", 0, ""},
                    TensorRow{"WTensor<uint64_t, 4>", "tensor[6]", 2, ""},
                    TensorRow{"Tensor<float, 2>", "tensor[1]", -1, "argument-rank"},
                    TensorRow{"Tensor<float3, 1>", "tensor<float>[1]", -1, "argument-rank"},
                    TensorRow{"Tensor<float, 1>", "tensor<int>[1]", -1, "argument-type"},
                    TensorRow{"Tensor<float, 1>", "tensor<half>[2]", -1, "argument-type"},
                    TensorRow{"Tensor<float3, 1>", "tensor<float2>[1]", -1, "argument-type"},
                    TensorRow{"Tensor<float, 1>", "value", -1, "argument-type"},
                    TensorRow{"Tensor<float, 1>", "grid[1]", -1, "argument-type"},
                    TensorRow{"Tensor<float, 0>", "tensor[1]", -1, "type-not-supported"},
                    TensorRow{"Tensor<float, 9>", "tensor[8]", -1, "type-not-supported"},
                    TensorRow{"Tensor<bool2, 1>", "tensor<bool>[2]", 0, "", {2}},
                    TensorRow{"AtomicTensor<half, 1>", "tensor[1]", 0, ""},
                    TensorRow{"AtomicTensor<int64_t, 1>", "tensor[1]", 0, ""},
                    TensorRow{"AtomicTensor<int16_t, 1>", "tensor[1]", -1, "type-not-supported"},
                    TensorRow{"AtomicTensor<bool, 1>", "tensor[1]", -1, "type-not-supported"},
                    TensorRow{"float[]", "tensor[1]", -1, "type-not-supported"}));

/// One kind given to void f(P x), whose rank the kind says: the rank, or an error's id.
struct ViewRow {
    std::string parameter;
    std::string kind;
    std::int64_t rank;
    std::string error = {};
};

class ViewTest : public testing::TestWithParam<ViewRow> {};

TEST_P(ViewTest, HasTheRankOfItsKind) {
    const ViewRow& row = GetParam();
    SCOPED_TRACE(row.kind + " to " + row.parameter);
    const Outcome<Plan> plan =
        plan_of(call_with('"' + row.kind + '"'), {function_of("void", "f", {{row.parameter, "x"}})});
    if (!row.error.empty()) {
        ASSERT_THAT(ids(plan), ElementsAre(row.error));
        EXPECT_THAT(plan.errors().front().message, HasSubstr("argument 'x'"));
        return;
    }
    ASSERT_TRUE(plan) << format_text(plan.errors().front());
    const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
    const manifest::Argument& host = call.arguments.at(0).host;
    EXPECT_EQ(call.rank, 0);
    EXPECT_EQ(host.inner_rank, row.rank);
    EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(host.kind).access, Access::view);
}

INSTANTIATE_TEST_SUITE_P(Table, ViewTest,
                         testing::Values(ViewRow{"TensorView<float>", "tensor[1]", 1},
                                         ViewRow{"TensorView<float>", "tensor[8]", 8},
                                         ViewRow{"TensorView<float3>", "tensor[2]", 2},
                                         ViewRow{"TensorView<float3>", "tensor<float>[3]", 2},
                                         ViewRow{"TensorView<float>", "tensor<float3>[1]", 2},
                                         ViewRow{"DiffTensorView<half>", "tensor[4]", 4},
                                         ViewRow{"TensorView<float>", "tensor[0]", 0, "argument-rank"},
                                         ViewRow{"TensorView<float3>", "tensor<float>[1]", 0,
                                                 "argument-rank"},
                                         ViewRow{"TensorView<float>", "tensor<int>[1]", 0, "argument-type"},
                                         ViewRow{"TensorView<float>", "value", 0, "argument-type"},
                                         ViewRow{"TensorView<float>", "grid[1]", 0, "argument-type"}));

TEST(ViewGradients, AreAlwaysTaken) {
    const std::vector<Function> functions = {
        function_of("void", "f", {{"DiffTensorView<float>", "x"}, {"DiffTensorView<float>", "y"}})};
    const auto plan_with = [&](const std::string& x, const std::string& backward) {
        return plan_of(R"({"function": "f", "args": {"x": )" + x + R"(, "y": "tensor[1]"}, "backward": )" +
                           backward + "}",
                       functions);
    };
    // "y" may be what the function stores to, whose gradient it reads.
    const Outcome<Plan> plan = plan_with(R"("tensor[1]")", R"({"inputs": ["x"]})");
    ASSERT_TRUE(plan) << format_text(plan.errors().front());
    for (const PlannedArgument& argument : plan.value().functions.at(0).calls.at(0).arguments) {
        EXPECT_EQ(argument.host.gradient, Gradient::automatic);
        EXPECT_TRUE(argument.host.differentiable);
    }
    for (const std::string option : {R"("grad": false)", R"("accumulate": "overwrite")"}) {
        const Outcome<Plan> refused = plan_with(R"({"kind": "tensor[1]", )" + option + "}", "true");
        ASSERT_THAT(ids(refused), ElementsAre("backward-input")) << option;
        EXPECT_THAT(refused.errors().front().message, HasSubstr("argument 'x': " + option)) << option;
    }
}

TEST(TensorParameter, SaysItselfWhatIsWritten) {
    const std::vector<std::pair<std::string, Access>> rows = {
        {"Tensor", Access::read},
        {"WTensor", Access::write},
        {"RWTensor", Access::read_write},
        {"AtomicTensor", Access::add},
        {"DiffTensor", Access::read},
        {"WDiffTensor", Access::write},
        {"RWDiffTensor", Access::read_write},
        {"GradInTensor", Access::read_write},
    };
    for (const auto& [form, access] : rows) {
        SCOPED_TRACE(form);
        const Outcome<Plan> plan =
            plan_of(call_with(R"("tensor[1]")"), {function_of("void", "f", {{form + "<float, 1>", "x"}})});
        ASSERT_TRUE(plan);
        EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(
                      plan.value().functions.at(0).calls.at(0).arguments.at(0).host.kind)
                      .access,
                  access);
        for (const Direction direction : {Direction::out, Direction::inout}) {
            const Outcome<Plan> refused =
                plan_of(call_with(R"("tensor[1]")"),
                        {function_of("void", "f", {{form + "<float, 1>", "x", direction}})});
            EXPECT_THAT(ids(refused), ElementsAre("type-not-supported"));
        }
    }
    EXPECT_THAT(ids(plan_of(R"({"function": "f", "args": {}, "result": "tensor[1]"})",
                            {function_of("Tensor<float, 1>", "f", {})})),
                ElementsAre("type-not-supported"));
}

TEST(TensorParameter, IsOnlyGivenInAStructThatChanges) {
    const Type meter = test::struct_of("Meter", {{"table", test::type_named("DiffTensor<float, 1>")},
                                                 {"seen", test::type_named("RWTensor<int, 1>")},
                                                 {"total", test::type_named("float")}});
    const std::string kind =
        R"({"fields": {"table": "tensor[1]", "seen": "tensor[1]", "total": "tensor[1]"}})";
    const auto plan_with = [&](Direction direction, Member member) {
        Function function = function_of("void", "Meter.add", {{"float", "this", direction}, {"float", "y"}});
        function.parameters[0].type = meter;
        function.parameters[0].name = member == Member::method ? "this" : "m";
        function.member = member;
        const std::string object = member == Member::method ? R"("this": )" + kind + R"(, "args": {)"
                                                            : R"("args": {"m": )" + kind + ", ";
        return plan_of(R"({"function": "Meter.add", )" + object + R"("y": "value"}})", {function});
    };
    for (const Member member : {Member::none, Member::method}) {
        const Outcome<Plan> plan = plan_with(Direction::inout, member);
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
        EXPECT_EQ(call.arguments.at(0).host.role, manifest::Role::in);
        EXPECT_EQ(call.arguments.at(1).host.role, manifest::Role::in);
        EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(call.arguments.at(1).host.kind).access,
                  Access::read_write);
        EXPECT_EQ(call.arguments.at(2).host.role, manifest::Role::inout);
        EXPECT_EQ(call.parameters.at(0).role, manifest::Role::inout);
    }
    const Outcome<Plan> made = plan_with(Direction::out, Member::none);
    ASSERT_THAT(ids(made), ElementsAre("type-not-supported", "type-not-supported"));
    EXPECT_THAT(made.errors().front().message, HasSubstr("argument 'm.table': a function can't make"));
    EXPECT_THAT(made.errors().front().notes, ElementsAre(HasSubstr("make the parameter inout")));
}

TEST(TensorParameter, HasGradientsWhereItsTypeHas) {
    struct Row {
        std::string type;
        bool differentiable;
        Gradient gradient;
    };
    for (const Row& row :
         {Row{"Tensor<float, 1>", false, Gradient::never}, Row{"RWTensor<float, 1>", false, Gradient::never},
          Row{"AtomicTensor<float, 1>", false, Gradient::never},
          Row{"DiffTensor<float, 1>", true, Gradient::automatic},
          Row{"WDiffTensor<float, 1>", true, Gradient::never},
          Row{"GradInTensor<float, 1>", true, Gradient::never},
          Row{"TensorView<float>", false, Gradient::never},
          Row{"DiffTensorView<float>", true, Gradient::automatic},
          Row{"RWDiffTensor<float3, 1>", true, Gradient::automatic}}) {
        SCOPED_TRACE(row.type);
        // The other input keeps the backward pass from having nothing to do.
        const Outcome<Plan> plan =
            plan_of(R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}, "backward": true})",
                    {function_of("void", "f", {{row.type, "x"}, {"float", "y"}})});
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        const manifest::Argument& host = plan.value().functions.at(0).calls.at(0).arguments.at(0).host;
        EXPECT_EQ(host.differentiable, row.differentiable);
        EXPECT_EQ(host.gradient, row.gradient);
    }
}

TEST(TensorParameter, WithoutGradientsIsNoBackwardInput) {
    for (const std::string type : {"Tensor<float, 1>", "WDiffTensor<float, 1>", "GradInTensor<float, 1>"}) {
        const Outcome<Plan> plan = plan_of(
            R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}, "backward": {"inputs": ["x"]}})",
            {function_of("void", "f", {{type, "x"}, {"float", "y"}})});
        EXPECT_THAT(ids(plan), ElementsAre("backward-input")) << type;
    }
    const Outcome<Plan> plan = plan_of(
        R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}, "backward": {"inputs": ["x"]}})",
        {function_of("void", "f", {{"DiffTensor<float, 1>", "x"}, {"float", "y"}})});
    EXPECT_THAT(ids(plan), IsEmpty());
}

TEST(TensorParameter, OverwritesTheGradientsThatItHas) {
    const std::string overwritten = R"({"kind": "tensor[1]", "accumulate": "overwrite"})";
    for (const std::string type : {"DiffTensor<float, 1>", "float"}) {
        SCOPED_TRACE(type);
        const std::vector<Function> functions = {function_of("void", "f", {{type, "x"}})};
        const Outcome<Plan> plan = plan_of(call_with(overwritten, R"(, "backward": true)"), functions);
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        EXPECT_TRUE(plan.value().functions.at(0).calls.at(0).arguments.at(0).host.overwrite);
        const Outcome<Plan> summed = plan_of(
            call_with(R"({"kind": "tensor[1]", "accumulate": "sum"})", R"(, "backward": true)"), functions);
        ASSERT_TRUE(summed);
        EXPECT_FALSE(summed.value().functions.at(0).calls.at(0).arguments.at(0).host.overwrite);
        EXPECT_THAT(ids(plan_of(call_with(overwritten), functions)), ElementsAre("backward-input"));
    }
    const Outcome<Plan> plan =
        plan_of(R"({"function": "f", "args": {"x": )" + overwritten + R"(, "y": "value"}, "backward": true})",
                {function_of("void", "f", {{"Tensor<float, 1>", "x"}, {"float", "y"}})});
    ASSERT_THAT(ids(plan), ElementsAre("backward-input"));
    EXPECT_THAT(plan.errors().front().message, HasSubstr("argument 'x'"));
}

TEST(TensorParameter, NoDiffIsOfWhatIsRead) {
    const std::string call =
        R"({"function": "f", "args": {"x": "tensor[1]", "y": "value"}, "backward": true})";
    for (const auto& [type, id] : {std::pair("DiffTensor<float, 1>", ""),
                                   {"Tensor<float, 1>", ""},
                                   {"WTensor<float, 1>", ""},
                                   {"WDiffTensor<float, 1>", "type-not-supported"},
                                   {"RWDiffTensor<float, 1>", "type-not-supported"}}) {
        SCOPED_TRACE(type);
        Function function = function_of("float", "f", {{type, "x"}, {"float", "y"}});
        function.parameters[0].no_diff_written = true;
        const Outcome<Plan> plan = plan_of(call, {function});
        if (*id != '\0') {
            ASSERT_THAT(ids(plan), ElementsAre(id));
            EXPECT_THAT(plan.errors().front().message, HasSubstr("whether or not the source says no_diff"));
            continue;
        }
        ASSERT_TRUE(plan);
        const manifest::Argument& x = plan.value().functions.at(0).calls.at(0).arguments.at(0).host;
        EXPECT_EQ(x.gradient, Gradient::never);
        EXPECT_FALSE(x.differentiable);
    }
}

/// struct Ray { int tag; float3 pos; no_diff float weight; half t[2]; }, in f(FORM<Ray, 1> x, float y).
std::vector<Function> takes_rays(TensorForm form, Direction direction = Direction::in) {
    Type tensor;
    tensor.kind = TypeKind::tensor;
    tensor.form = form;
    tensor.extent = 1;
    tensor.name = std::string(form_name(form)) + "<Ray, 1>";
    tensor.element = {test::struct_of("Ray", {{"tag", test::type_named("int")},
                                              {"pos", test::type_named("float3")},
                                              {"weight", test::type_named("float"), true},
                                              {"t", test::type_named("half[2]")}})};
    Function function = function_of("void", "f", {{"float", "x", direction}, {"float", "y"}});
    function.parameters[0].type = tensor;
    return {function};
}

std::string call_of_rays(const std::string& kind, const std::string& more = "") {
    return R"({"function": "f", "args": {"x": ")" + kind + R"(", "y": "value"})" + more + "}";
}

TEST(TensorParameter, SaysWhatDoesForBfloat16) {
    Type bfloat16;
    bfloat16.name = "BFloat16";
    std::vector<Function> functions = takes_rays(TensorForm::read);
    functions.front().parameters[0].type.element = {bfloat16};
    const Outcome<Plan> tensor = plan_of(call_of_rays("tensor[1]"), functions);
    ASSERT_THAT(ids(tensor), ElementsAre("type-not-supported"));
    EXPECT_THAT(tensor.errors().front().notes.back(), HasSubstr("half or float"));
    functions.front().parameters[0].type = bfloat16;
    const Outcome<Plan> value = plan_of(call_of_rays("value"), functions);
    ASSERT_THAT(ids(value), ElementsAre("type-not-supported"));
    EXPECT_THAT(value.errors().front().notes.back(), HasSubstr("half or float"));
}

TEST(TensorParameter, OfStructsIsNoField) {
    for (const Direction direction : {Direction::in, Direction::inout, Direction::out}) {
        std::vector<Function> functions = takes_rays(TensorForm::read, direction);
        Type& type = functions.front().parameters[0].type;
        type = test::struct_of("Holder", {{"rays", type}});
        const Outcome<Plan> plan =
            plan_of(R"({"function": "f", "args": {"x": {"fields": {"rays": "tensor[1]"}}, "y": "value"}})",
                    functions);
        ASSERT_THAT(ids(plan), ElementsAre("type-not-supported"));
        EXPECT_THAT(plan.errors().front().message, HasSubstr("make it a parameter of its own"));
    }
}

TEST(TensorParameter, OfStructsHasTheirFieldsAsLeaves) {
    for (const std::string kind : {"tensor[2]", "tensor<Ray>[2]"}) {
        const Outcome<Plan> plan =
            plan_of(call_of_rays(kind, R"(, "backward": true)"), takes_rays(TensorForm::diff_read));
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        const PlannedCall& call = plan.value().functions.at(0).calls.at(0);
        EXPECT_EQ(call.rank, 1);
        EXPECT_EQ(call.parameters.at(0).host.form, manifest::Form::tensor);
        EXPECT_EQ(call.parameters.at(0).host.size, 24);
        const std::vector<std::string> names = {"x.tag", "x.pos", "x.weight", "x.t"};
        const std::vector<std::int64_t> offsets = {0, 4, 16, 20};
        for (std::size_t i = 0; i < names.size(); ++i) {
            SCOPED_TRACE(names[i]);
            const manifest::Argument& leaf = call.arguments.at(i).host;
            EXPECT_EQ(leaf.name, names[i]);
            EXPECT_EQ(leaf.offset, offsets[i]);
            EXPECT_EQ(leaf.inner_rank, 1);
            EXPECT_EQ(leaf.call_rank, 1);
            EXPECT_EQ(std::get<manifest::kinds::WholeTensor>(leaf.kind).access, Access::read);
            EXPECT_EQ(leaf.pitch, i == 3 ? 12 : 6);
            EXPECT_EQ(leaf.differentiable, i % 2 == 1);
            EXPECT_EQ(leaf.gradient, i % 2 == 1 ? Gradient::automatic : Gradient::never);
        }
    }
}

TEST(TensorParameter, OfStructsIsRefusedLikeOthers) {
    const auto rays = takes_rays(TensorForm::diff_read);
    EXPECT_THAT(ids(plan_of(call_of_rays("value"), rays)), ElementsAre("argument-type"));
    EXPECT_THAT(ids(plan_of(call_of_rays("tensor<Light>[1]"), rays)), ElementsAre("argument-type"));
    EXPECT_THAT(ids(plan_of(call_of_rays("tensor[0]"), rays)).front(), "argument-rank");
    EXPECT_THAT(ids(plan_of(call_of_rays("tensor[1]"), takes_rays(TensorForm::write, Direction::out))),
                ElementsAre("type-not-supported"));
    const auto with_inputs = [](const std::string& inputs) {
        return call_of_rays("tensor[1]", R"(, "backward": {"inputs": [)" + inputs + "]}");
    };
    EXPECT_THAT(ids(plan_of(with_inputs(R"("x.pos", "y")"), rays)), ElementsAre("backward-input"));
    EXPECT_THAT(ids(plan_of(with_inputs(R"("x")"), rays)), IsEmpty());
    EXPECT_THAT(ids(plan_of(with_inputs(R"("y")"), rays)), IsEmpty());
    const auto pushed = plan_of(
        R"({"function": "f", "args": {"x": {"kind": "tensor[1]", "accumulate": "push"}, "y": "value"}, )"
        R"("backward": true})",
        rays);
    ASSERT_THAT(ids(pushed), ElementsAre("accumulate-way"));
    EXPECT_THAT(pushed.errors().front().message, HasSubstr("'x.grad' can't be accumulated"));
}

}  // namespace
}  // namespace kf::gen
