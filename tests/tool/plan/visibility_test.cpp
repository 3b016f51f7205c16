// Refusals of what kernels can't name.
#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Type whole = test::struct_of(
    "ns.Whole<float>",
    {{"parts", test::array_of(test::struct_of("Part", {{"x", test::type_named("float")}}), 2)}});

Outcome<Plan> plan_with(const std::string& kind, const std::vector<HiddenField>& closed) {
    Module module;
    module.functions = {test::function_of("float", "f", {{"float", "w"}})};
    module.functions[0].parameters[0].type = whole;
    module.closed_fields = closed;
    return resolve(test::spec_of(R"({"function": "f", "args": {"w": )" + kind + "}}"), module);
}

TEST(VisibilityTest, EachClosedFieldOfAStructIsNamedOnce) {
    const std::vector<HiddenField> closed = {{"Part", "x", {"m.slang", 4, 9}},
                                             {"Other", "x", {"m.slang", 6, 9}},
                                             {"ns.Whole", "parts", {"m.slang", 8, 9}}};
    const auto plan = plan_with(R"(["value", "tensor[1]"])", closed);
    ASSERT_THAT(test::ids(plan), ElementsAre("field-not-public", "field-not-public"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("field 'x' of 'Part' is not public"));
    EXPECT_EQ(plan.errors()[0].location, (Location{"m.slang", 4, 9}));
    EXPECT_EQ(plan.errors()[1].location, (Location{"m.slang", 8, 9}));
    EXPECT_TRUE(plan_with(R"("value")", {}).ok());
}

TEST(VisibilityTest, TensorsOfOthersAreRefused) {
    Function function = test::function_of("void", "f", {{"float", "x"}});
    Type& type = function.parameters[0].type;
    type = test::struct_of("TorchTensor<float>", {});
    const auto plan = [&] {
        return test::plan_of(R"({"function": "f", "args": {"x": "value"}})", {function});
    };
    ASSERT_THAT(test::ids(plan()), ElementsAre("type-not-supported"));
    EXPECT_THAT(plan().errors()[0].notes,
                ElementsAre(HasSubstr("takes a TensorView, and give that a tensor")));
    EXPECT_EQ(plan().errors()[0].location.file, "functions.kf.json");
    type = test::struct_of("DiffTensorView<float, Mine>", {{"diff", test::type_named("float")}});
    ASSERT_THAT(test::ids(plan()), ElementsAre("type-not-supported"));
    type = test::struct_of("TensorView<float>", {{"own", test::type_named("float")}});
    EXPECT_TRUE(plan().ok()) << "the user's own";
}

TEST(VisibilityTest, AClosedFunctionIsOneErrorInAllItsCalls) {
    Module module;
    module.functions = {test::function_of("float", "f", {{"float", "x"}}),
                        test::function_of("float", "f", {{"float", "x"}, {"float", "y"}}),
                        test::function_of("float", "g", {{"float", "x"}})};
    module.functions[2].is_closed = true;
    module.functions[2].location = {"functions.slang", 3, 7};
    const Spec spec = test::spec_of(R"({"function": "f", "args": {"x": "value", "y": "value"}},
                                       {"function": "g", "args": {"x": "value"}},
                                       {"function": "g", "args": {"x": "tensor[1]"}})");
    const auto plan = resolve(spec, module);
    ASSERT_THAT(test::ids(plan), ElementsAre("function-not-public"));
    EXPECT_EQ(plan.errors()[0].location, (Location{"functions.slang", 3, 7}));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("'g' is not public"));
    module.functions[2].is_closed = false;
    module.functions[0].is_closed = true;  // of two overloads, the other is meant
    EXPECT_TRUE(resolve(spec, module).ok());
}

}  // namespace
}  // namespace kf::gen
