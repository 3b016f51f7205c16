// Members of structs: methods, static functions and constructors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/type_text.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Form;
using manifest::Role;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using ::testing::ElementsAre;

Type particle() {
    return struct_of("ns.Particle", {{"pos", type_named("float3")}, {"vel", type_named("float3")}});
}

std::vector<Function> particle_methods() {
    Function update =
        function_of("void", "ns.Particle.update", {{"float", "this", Direction::inout}, {"float", "dt"}});
    update.parameters[0].type = particle();
    update.member = Member::method;
    Function speed = function_of("float", "ns.Particle.speed", {{"float", "this"}});
    speed.parameters[0].type = particle();
    speed.member = Member::method;
    Function twice = function_of("float", "ns.Particle.twice", {{"float", "x"}});
    twice.member = Member::static_one;
    Function make = function_of("float", "ns.Particle.__init", {{"float3", "pos"}});
    make.result = particle();
    make.member = Member::constructor;
    return {update, speed, twice, make};
}

std::vector<Role> roles(const PlannedCall& call) {
    std::vector<Role> found;
    for (const PlannedArgument& argument : call.arguments) found.push_back(argument.host.role);
    return found;
}

TEST(Methods, TakeTheObjectFirst) {
    const auto plan =
        plan_of(R"({"function": "ns.Particle.speed", "this": ["value", "tensor[1]"]})", particle_methods());
    ASSERT_TRUE(plan) << ids(plan).front();
    const PlannedFunction& function = plan.value().functions.at(0);
    EXPECT_EQ(function.name, "ns.Particle.speed");
    EXPECT_EQ(function.owner, "ns.Particle");
    EXPECT_EQ(function.member_name(), "speed");
    EXPECT_TRUE(function.is_method());
    ASSERT_EQ(function.calls.size(), 2U);
    EXPECT_EQ(function.calls[1].parameters[0].host.name, "this");
    EXPECT_EQ(function.calls[1].parameters[0].host.form, Form::tensor);
    EXPECT_TRUE(function.calls[1].by_adapter);
}

TEST(Methods, ThatMutateWriteTensorsOnly) {
    const auto whole =
        plan_of(R"({"function": "ns.Particle.update", "this": "tensor[1]", "args": {"dt": "value"}})",
                particle_methods());
    ASSERT_TRUE(whole) << ids(whole).front();
    EXPECT_THAT(roles(whole.value().functions[0].calls[0]), ElementsAre(Role::inout, Role::inout, Role::in));
    const auto fields = plan_of(R"({"function": "ns.Particle.update", "args": {"dt": "value"},
                                    "this": {"fields": {"pos": "tensor[1]", "vel": "value"}}})",
                                particle_methods());
    ASSERT_TRUE(fields) << ids(fields).front();
    EXPECT_THAT(roles(fields.value().functions[0].calls[0]), ElementsAre(Role::inout, Role::in, Role::in));
    // Of all fields one with another rank would be shared by calls that write it.
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.update", "args": {"dt": "tensor[1]"},
                                "this": {"fields": {"pos": "tensor[0]", "vel": "tensor[1]"}}})",
                            particle_methods())),
                ElementsAre("output-broadcast"));
}

TEST(Methods, NeedAnObjectAndOthersTakeNone) {
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.speed"})", particle_methods())),
                ElementsAre("function-method"));
    EXPECT_THAT(
        ids(plan_of(R"({"function": "ns.Particle.__init", "this": "value", "args": {"pos": "value"}})",
                    particle_methods())),
        ElementsAre("function-method"));
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.twice", "this": "value", "args": {"x": "value"}})",
                            particle_methods())),
                ElementsAre("function-method"));
}

TEST(Methods, HaveTheirObjectBesideTheArguments) {
    const auto plan =
        plan_of(R"({"function": "ns.Particle.speed", "args": {"this": "value"}})", particle_methods());
    ASSERT_THAT(ids(plan), ElementsAre("argument-unknown"));
    EXPECT_THAT(plan.errors()[0].message, ::testing::HasSubstr("beside"));
    EXPECT_GT(plan.errors()[0].location.column, 0);
}

TEST(Methods, ThatMutateMustHaveSomethingToWrite) {
    // A value is only read, and this method gives nothing else.
    const auto plan =
        plan_of(R"({"function": "ns.Particle.update", "this": "value", "args": {"dt": "tensor[1]"}})",
                particle_methods());
    ASSERT_THAT(ids(plan), ElementsAre("method-effect"));
    EXPECT_EQ(plan.errors()[0].location.file, "functions.kf.json");
    EXPECT_GT(plan.errors()[0].location.column, 0);
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.update", "args": {"dt": "value"},
                                "this": {"fields": {"pos": "value", "vel": "value"}}})",
                            particle_methods())),
                ElementsAre("method-effect"));
    std::vector<Function> returning = particle_methods();
    returning[0].result = type_named("float");
    const auto step =
        plan_of(R"({"function": "ns.Particle.update", "this": "value", "args": {"dt": "value"}})", returning);
    ASSERT_TRUE(step) << ids(step).front();
    EXPECT_THAT(roles(step.value().functions[0].calls[0]),
                ElementsAre(Role::in, Role::in, Role::in, Role::result));
}

TEST(Methods, AreNotFoundUnderOtherNames) {
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.sped", "this": "value"})", particle_methods())),
                ElementsAre("function-unknown"));
    EXPECT_THAT(ids(plan_of(R"({"function": "ns.Particle.speed", "this": {"fields": {"pos": "value"}}})",
                            particle_methods())),
                ElementsAre("field-missing"));
    EXPECT_THAT(
        ids(plan_of(R"({"function": "ns.Particle.speed", "this": "tensor<float3>[1]"})", particle_methods())),
        ElementsAre("argument-type"));
}

/// Knows the structs Ext and Two, of which Ext conforms to everything.
class TwoStructs final : public TypeLookup {
public:
    Outcome<std::optional<Type>> type_named(const std::string& name) override {
        if (name == "Two") return std::optional(struct_of("Two<A, B>", {}));
        if (name != "Ext" && name != "Two<int, float>") return std::optional<Type>();
        return std::optional(struct_of(name, {}));
    }
    Outcome<bool> conforms(const std::string& type, const std::string&) override { return type == "Ext"; }
};

TEST(Methods, ThatSeveralTypesHaveAreSuggested) {
    Module module;
    module.functions = {function_of("float", "ext", {})};
    const std::vector<GenericParameter> any{{"This", "", {"IShape"}, 0}};
    const std::vector<GenericParameter> first{{"A", "", {}, 0}};
    module.shared = {{"This", any, function_of("float", "area", {})},
                     {"Two<A,float>", first, function_of("float", "scaled", {})}};
    TwoStructs types;
    const auto notes = [&](const std::string& function) {
        const auto plan =
            resolve(test::spec_of(R"({"function": ")" + function + R"(", "args": {}})"), module, &types);
        EXPECT_THAT(ids(plan), ElementsAre("function-unknown"));
        return plan ? std::vector<std::string>() : plan.errors()[0].notes;
    };
    EXPECT_THAT(notes("Ext.aera"), ElementsAre("did you mean 'Ext.area'?", "functions: Ext.area, ext"));
    EXPECT_THAT(notes("Two<int,float>.scald"), ElementsAre("did you mean 'Two<int, float>.scaled'?",
                                                           "functions: Two<int, float>.scaled, ext"));
    EXPECT_THAT(notes("None.area"), ElementsAre("functions: ext"));
    EXPECT_THAT(
        notes("Two.scaled"),
        ElementsAre("'Two<A, B>' is generic: its members are called with its arguments", "functions: ext"));
}

TEST(Methods, StaticOnesAndConstructorsAreCalledByTheType) {
    const auto twice =
        plan_of(R"({"function": "ns.Particle.twice", "args": {"x": "value"}})", particle_methods());
    ASSERT_TRUE(twice) << ids(twice).front();
    EXPECT_EQ(twice.value().functions[0].name, "ns.Particle.twice");
    EXPECT_FALSE(twice.value().functions[0].is_method());
    EXPECT_FALSE(twice.value().functions[0].calls[0].by_adapter);
    const auto make =
        plan_of(R"({"function": "ns.Particle.__init", "name": "make", "args": {"pos": "tensor[1]"}})",
                particle_methods());
    ASSERT_TRUE(make) << ids(make).front();
    EXPECT_EQ(make.value().functions[0].name, "make");
    EXPECT_EQ(make.value().functions[0].owner, "");
    EXPECT_EQ(make.value().functions[0].calls[0].owner, "ns.Particle");
    EXPECT_EQ(make.value().functions[0].calls[0].parameters.back().host.form, Form::tensor);
}

TEST(Methods, OwnersAreWhatStandsBeforeTheLastName) {
    EXPECT_EQ(owner_of("ns.Box<float, 3>.make<a.b>"), "ns.Box<float, 3>");
    EXPECT_EQ(owner_of("f<a.b>"), "");
}

}  // namespace
}  // namespace kf::gen
