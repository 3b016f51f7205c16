// Tests which functions are losses that can be fused with their gradients.
#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using test::ParameterText;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* fused_spec =
    "{\"function\": \"f\", \"args\": {\"x\": \"tensor[1]\", \"y\": \"tensor[1]\"},\n \"backward\": "
    "{\"fused\": true}}";

TEST(FusedTest, LossesHaveAnotherPass) {
    for (const char* type : {"half", "float", "double"}) {
        const Outcome<Plan> plan =
            plan_of(fused_spec, {function_of(type, "f", {{"float3", "x"}, {"int", "y", Direction::out}})});
        ASSERT_TRUE(plan) << format_text(plan.errors().front());
        EXPECT_TRUE(plan.value().functions.at(0).calls.at(0).has_fused);
        EXPECT_TRUE(plan.value().functions.at(0).calls.at(0).has_backward);
    }
    const Outcome<Plan> plain =
        plan_of(R"({"function": "f", "args": {"x": "tensor[1]"}, "backward": {"fused": false}})",
                {function_of("float", "f", {{"float", "x"}})});
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain.value().functions.at(0).calls.at(0).has_fused);
}

struct NoLoss {
    std::string result;
    ParameterText second;
    std::string reason;
    std::string cure;
};

class FusedRefusedTest : public testing::TestWithParam<NoLoss> {};

TEST_P(FusedRefusedTest, SaysWhy) {
    const auto& [result, second, reason, cure] = GetParam();
    const Outcome<Plan> plan = plan_of(fused_spec, {function_of(result, "f", {{"float", "x"}, second})});
    ASSERT_THAT(ids(plan), ElementsAre("fused-loss"));
    EXPECT_THAT(plan.errors().front().message, HasSubstr(reason));
    EXPECT_THAT(plan.errors().front().notes, ElementsAre(HasSubstr(cure)));
    EXPECT_EQ(plan.errors().front().location.line, 2);
}

INSTANTIATE_TEST_SUITE_P(
    All, FusedRefusedTest,
    testing::Values(
        NoLoss{"float3", {"float", "y"}, "it returns 'float3'", "one floating scalar"},
        NoLoss{"int", {"float", "y"}, "it returns 'int'", "one floating scalar"},
        NoLoss{"void", {"float", "y", Direction::out}, "argument 'y' is another output", "detach"},
        NoLoss{"float", {"float", "y", Direction::out}, "argument 'y' is another output", "detach"},
        NoLoss{"float",
               {"float", "y", Direction::inout},
               "argument 'y' is written in place",
               "leave \"fused\" out"},
        NoLoss{"float",
               {"WDiffTensor<float, 1>", "y"},
               "argument 'y' is written in place",
               "leave \"fused\" out"},
        NoLoss{"float",
               {"AtomicTensor<float, 1>", "y"},
               "argument 'y' is written in place",
               "leave \"fused\" out"}));

}  // namespace
}  // namespace kf::gen
