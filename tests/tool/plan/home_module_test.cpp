// Functions that calls name with their module.
#include "plan/home_module.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::ids;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

Function at(Function function, const std::string& file, std::int64_t line) {
    function.location = {file, line, 7};
    return function;
}

/// What main.slang is known by, which has light() and Tone.of(), and imports geo/tone.slang, other/tone.slang
/// and geo/Tone.slang.
Module modules() {
    Module module;
    module.module_names = {"main"};
    module.functions = {at(function_of("float", "light", {{"float", "x"}}), "/s/main.slang", 3),
                        at(function_of("float", "Tone.of", {{"float", "x"}}), "/s/main.slang", 4)};
    module.functions[1].member = Member::static_one;
    const Function light = function_of("float", "light", {{"float", "y"}});
    const Function dark = function_of("float", "dark", {{"float", "x"}});
    const Function of = function_of("float", "of", {{"float", "x"}});
    module.modules = {
        {"geo.tone", "s.geo.tone", "kf_module_geo_tone", {"light"}, {at(light, "/s/geo/tone.slang", 5)}},
        {"other.tone",
         "s.other.tone",
         "kf_module_other_tone",
         {"light", "dark"},
         {at(light, "/s/other/tone.slang", 6), at(dark, "/s/other/tone.slang", 7)}},
        {"Tone", "s.geo.Tone", "kf_module_Tone", {"of"}, {at(of, "/s/geo/Tone.slang", 8)}},
        {"main", "s.main", "main", {"light", "Tone.of"}, module.functions},
    };
    return module;
}

Outcome<Plan> plan_of(const std::string& function, const std::string& argument = "x") {
    return resolve(
        test::spec_of(R"({"function": ")" + function + R"(", "args": {")" + argument + R"(": "tensor[1]"}})"),
        modules());
}

TEST(HomeModule, KernelsImportTheModuleThatIsNamed) {
    const auto plan = plan_of("geo.tone.light", "y");
    ASSERT_TRUE(plan) << ids(plan).front();
    EXPECT_EQ(plan.value().functions[0].name, "light");
    EXPECT_EQ(plan.value().functions[0].calls[0].function, "light");
    EXPECT_EQ(plan.value().functions[0].calls[0].module, "kf_module_geo_tone");
    EXPECT_EQ(plan_of("light").value().functions[0].calls[0].module, "");
    EXPECT_EQ(plan_of("main.light").value().functions[0].calls[0].module, "main");
    EXPECT_EQ(plan_of("other::tone::light", "y").value().functions[0].calls[0].module,
              "kf_module_other_tone");
    const auto member = plan_of("s.main.Tone.of");
    ASSERT_TRUE(member) << ids(member).front();
    EXPECT_EQ(member.value().functions[0].name, "Tone.of");
    EXPECT_EQ(member.value().functions[0].calls[0].module, "main");
}

TEST(HomeModule, AnEndOfThePathIsEnoughWhereOneModuleHasTheFunction) {
    EXPECT_EQ(plan_of("tone.dark").value().functions[0].calls[0].module, "kf_module_other_tone");
    EXPECT_THAT(ids(plan_of("one.dark")), ElementsAre("function-unknown"));
}

TEST(HomeModule, TwoModulesOfOneNameAreToldApartByTheirFolders) {
    const auto plan = plan_of("tone.light", "y");
    ASSERT_THAT(ids(plan), ElementsAre("function-ambiguous"));
    const Diagnostic& error = plan.errors().front();
    EXPECT_EQ(error.location.file, "functions.kf.json");
    EXPECT_EQ(error.location.line, 1);
    EXPECT_THAT(error.message, HasSubstr("'tone.light'"));
    EXPECT_THAT(error.notes, Contains(HasSubstr("/s/geo/tone.slang:5")));
    EXPECT_THAT(error.notes, Contains(HasSubstr("/s/other/tone.slang:6")));
    EXPECT_EQ(error.notes.back(), R"(write "geo.tone.light" or "other.tone.light")");
}

TEST(HomeModule, AStructAndAModuleOfOneNameAreToldApart) {
    const auto plan = plan_of("Tone.of");
    ASSERT_THAT(ids(plan), ElementsAre("function-ambiguous"));
    EXPECT_THAT(plan.errors().front().notes, Contains(HasSubstr("/s/main.slang:4")));
    EXPECT_THAT(plan.errors().front().notes, Contains(HasSubstr("/s/geo/Tone.slang:8")));
    EXPECT_EQ(plan.errors().front().notes.back(), R"(write "main.Tone.of" or "geo.Tone.of")");
    EXPECT_EQ(plan_of("geo.Tone.of").value().functions[0].calls[0].module, "kf_module_Tone");
}

TEST(HomeModule, AFunctionThatIsOnlyImportedIsNamedWithItsModule) {
    const auto plan = plan_of("dark");
    ASSERT_THAT(ids(plan), ElementsAre("function-unknown"));
    EXPECT_EQ(plan.errors().front().notes.front(),
              R"(the imported module 'other.tone' has one: write "other.tone.dark")");
}

TEST(HomeModule, AModuleWithoutTheFunctionSaysWhatItHas) {
    const auto plan = plan_of("other.tone.drak");
    ASSERT_THAT(ids(plan), ElementsAre("function-unknown"));
    EXPECT_EQ(plan.errors().front().message, "no function 'drak' in the module 'other.tone'");
    EXPECT_THAT(plan.errors().front().notes, ElementsAre("did you mean 'dark'?", "functions: dark, light"));
    const auto missing = plan_of("tone.dark", "z");
    ASSERT_THAT(ids(missing), UnorderedElementsAre("argument-unknown", "argument-missing"));
    EXPECT_THAT(missing.errors().front().message, HasSubstr("'tone.dark'"));
}

TEST(HomeModule, StructsOfOneNameMustBeOne) {
    const auto plan_with = [](const std::string& field) {
        Module module = modules();
        for (std::size_t i : {0U, 1U}) {
            Function& light = module.modules[i].functions[0];
            light.parameters = {
                {"y", test::struct_of("Ray", {{i == 0 ? "t" : field, test::type_named("float")}})}};
        }
        const std::string call = R"({"name": "light_0", "function": "geo.tone.light", "args": {"y": "value"}},
                                    {"name": "light_1", "function": "other.tone.light", "args": {"y": "value"}})";
        return resolve(test::spec_of(call), module);
    };
    EXPECT_TRUE(plan_with("t"));
    const auto plan = plan_with("u");
    ASSERT_THAT(ids(plan), ElementsAre("struct-name"));
    EXPECT_EQ(plan.errors().front().location.line, 2);
    EXPECT_THAT(plan.errors().front().message, HasSubstr("'Ray'"));
}

TEST(HomeModule, AModuleThatIsNotImportedIsNamed) {
    const auto plan = plan_of("other.tune.dark");
    ASSERT_THAT(ids(plan), ElementsAre("function-unknown"));
    EXPECT_THAT(plan.errors().front().notes.at(0),
                testing::AllOf(HasSubstr("'other.tune' is no"), HasSubstr("did you mean 'other.tone.dark'?"),
                               HasSubstr("geo.tone, other.tone, Tone, main")));
    EXPECT_THAT(plan.errors().front().notes.at(1), HasSubstr("'import other.tune;'"));
    // A misspelt member of a struct is no matter of modules.
    EXPECT_THAT(plan_of("Tone.off").errors().front().notes, Not(Contains(HasSubstr("import"))));
}

}  // namespace
}  // namespace kf::gen
