// Structs as trees of leaves.
#include "plan/structs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Form;
using test::array_of;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Type light() { return struct_of("Light", {{"on", type_named("bool")}, {"color", type_named("half3")}}); }

Type scene() {
    return struct_of("Scene", {{"lights", array_of(light(), 2)},
                               {"turn", type_named("float2x2")},
                               {"scale", type_named("double"), true}});
}

std::vector<Function> functions(Direction direction = Direction::in) {
    Function shade = function_of("float", "shade", {{"float", "scene", direction}, {"float3", "at"}});
    shade.parameters[0].type = scene();
    Function make = function_of("float", "make", {{"float", "x"}});
    make.result = scene();
    Function flag = function_of("float", "flag", {{"float", "light"}});
    Type texture;
    texture.kind = TypeKind::texture;
    texture.element = {type_named("float")};
    texture.name = "Texture2D<float>";
    flag.parameters[0].type = struct_of("Holder", {{"handle", texture}});
    Type derived = struct_of("Derived", {{"depth", type_named("float")}});
    derived.inherits = true;
    Type bracketed = struct_of("Bracketed", {{"depth", type_named("float")}});
    bracketed.no_diff_array = true;
    Function brackets = function_of("float", "brackets", {{"float", "x"}});
    brackets.parameters[0].type = struct_of("Around", {{"bracketed", bracketed}});
    Function base = function_of("float", "base", {{"float", "x"}});
    base.parameters[0].type = struct_of("Around", {{"derived", derived}});
    Type choice;
    choice.name = "Mode";
    Function mode = function_of("float", "mode", {{"float", "x"}});
    mode.parameters[0].type = struct_of("Settings", {{"mode", choice}});
    Function dunder = function_of("float", "dunder", {{"float", "odd"}});
    dunder.parameters[0].type = struct_of("Odd", {{"__class__", type_named("float")}});
    Function many = function_of("float", "many", {{"float", "x"}, {"float", "y"}, {"float", "z"}});
    many.parameters[0].type = array_of(type_named("float"), 4097);
    many.parameters[1].type = struct_of("Some", {{"most", array_of(type_named("float2"), 2048)}});
    many.parameters[2].type = struct_of("All", {{"parts", array_of(type_named("float"), 4096)}});
    for (int i = 0; i < 64; ++i)
        many.parameters[2].type.fields.push_back(
            {"f" + std::to_string(i), array_of(type_named("int"), 4096)});
    return {shade, make, flag, brackets, base, mode, dunder, many};
}

const PlannedCall& only(const Outcome<Plan>& plan) { return plan.value().functions.at(0).calls.at(0); }

TEST(Structs, LieAsInC) {
    const StructLayout layout = layout_of(scene());
    EXPECT_THAT(layout.offsets, ElementsAre(0, 16, 32));
    EXPECT_EQ(layout.size, 40);
    EXPECT_EQ(layout.alignment, 8);
    EXPECT_THAT(layout_of(light()).offsets, ElementsAre(0, 2));
    EXPECT_EQ(layout_of(light()).size, 8);
}

TEST(Structs, ByValueBecomeLeavesAtOffsets) {
    const auto plan = plan_of(R"({"function": "shade", "args": {"scene": "value", "at": "value"},
                                  "backward": true})",
                              functions());
    ASSERT_TRUE(plan) << ids(plan).front();
    const PlannedCall& call = only(plan);
    ASSERT_EQ(call.arguments.size(), 6U);
    const manifest::Argument& color = call.arguments[1].host;
    EXPECT_EQ(color.name, "scene.lights.color");
    EXPECT_THAT(color.element.extents, ElementsAre(2, 3));
    EXPECT_EQ(color.offset, 2);
    EXPECT_THAT(color.spacing, ElementsAre(4, 1));
    EXPECT_EQ(color.pitch, 0);
    EXPECT_TRUE(std::get<manifest::kinds::Value>(color.kind).in_memory);
    EXPECT_EQ(call.arguments[1].path, ".lights[].color");
    EXPECT_EQ(call.arguments[2].host.offset, 16);
    EXPECT_EQ(call.arguments[0].host.gradient, manifest::Gradient::never);  // a bool
    EXPECT_EQ(color.gradient, manifest::Gradient::automatic);
    EXPECT_EQ(call.arguments[3].host.gradient, manifest::Gradient::never);  // no_diff
    const manifest::ParameterTree& tree = call.parameters[0].host;
    EXPECT_EQ(tree.form, Form::value);
    EXPECT_EQ(tree.leaves, 4);
    EXPECT_THAT(tree.fields[0].extents, ElementsAre(2));
}

TEST(Structs, InTensorsHaveAPitch) {
    const auto plan =
        plan_of(R"({"function": "shade", "args": {"scene": "tensor[2]", "at": "value"}})", functions());
    ASSERT_TRUE(plan) << ids(plan).front();
    const PlannedCall& call = only(plan);
    EXPECT_EQ(call.rank, 2);
    EXPECT_EQ(call.arguments[1].host.pitch, 20);  // halves in 40 bytes
    EXPECT_EQ(call.arguments[3].host.pitch, 5);
    EXPECT_EQ(call.arguments[3].host.call_rank, 2);
}

TEST(Structs, FieldByFieldEachHasItsKind) {
    const auto plan = plan_of(R"({"function": "shade", "args": {"at": "value", "scene":
        {"fields": {"lights": "value", "turn": ["tensor<float>[2]", "tensor<float>[3]"], "scale": "tensor[0]"}}}})",
                              functions());
    ASSERT_TRUE(plan) << ids(plan).front();
    const auto& calls = plan.value().functions[0].calls;
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].rank, 0);
    EXPECT_EQ(calls[1].rank, 1);
    EXPECT_EQ(calls[1].parameters[0].host.form, Form::fields);
    EXPECT_EQ(calls[1].parameters[0].host.fields[0].form, Form::value);
    EXPECT_EQ(calls[1].parameters[0].host.fields[1].form, Form::leaf);
}

TEST(Structs, OfVectorsTheComponentsAreFields) {
    const auto plan = plan_of(
        R"({"function": "shade", "args": {"scene": "value",
            "at": {"fields": {"x": "tensor[1]", "y": "value", "z": "tensor[1]"}}}})",
        functions());
    ASSERT_TRUE(plan) << ids(plan).front();
    EXPECT_EQ(only(plan).arguments[4].host.name, "at.x");
}

TEST(Structs, ResultsAreValuesOrTensors) {
    const auto one = plan_of(R"({"function": "make", "args": {"x": "value"}})", functions());
    const auto many = plan_of(R"({"function": "make", "args": {"x": "tensor[1]"}})", functions());
    ASSERT_TRUE(one && many);
    EXPECT_EQ(only(one).parameters[1].host.form, Form::value);
    EXPECT_EQ(only(many).parameters[1].host.form, Form::tensor);
    EXPECT_EQ(only(many).arguments[1].host.role, manifest::Role::result);
}

TEST(Structs, WithoutDerivativesSayHowToHaveThem) {
    Function trace = function_of("float", "trace", {{"float", "ray"}, {"int", "n"}});
    trace.parameters[0].type = struct_of("Ray", {{"t", type_named("float")}}, false);
    const auto plan = plan_of(
        R"({"function": "trace", "args": {"ray": "tensor[1]", "n": "value"}, "backward": true})", {trace});
    ASSERT_THAT(ids(plan), ElementsAre("backward-input"));
    EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr("'struct Ray : IDifferentiable'")));
}

TEST(Structs, AskedForGradientsThatTheyLackAreNamedOnce) {
    Function trace = function_of("float", "trace", {{"float", "ray"}, {"float", "x"}});
    trace.parameters[0].type =
        struct_of("Ray", {{"t", type_named("float")}, {"u", type_named("float")}}, false);
    const auto plan = plan_of(R"({"function": "trace", "backward": true,
                                  "args": {"ray": {"kind": "tensor[1]", "grad": true}, "x": "value"}})",
                              {trace});
    ASSERT_THAT(ids(plan), ElementsAre("backward-input"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("argument 'ray': there is no gradient"));
}

TEST(Structs, WithoutFieldsAreRefusedWithWhatDoes) {
    Function apply = function_of("float", "apply", {{"float", "act"}, {"float", "x"}});
    apply.parameters[0].type = struct_of("Relu", {});
    const auto plan =
        plan_of(R"({"function": "apply", "args": {"act": "value", "x": "tensor[1]"}})", {apply});
    ASSERT_THAT(ids(plan), ElementsAre("type-not-supported"));
    EXPECT_THAT(plan.errors()[0].message, HasSubstr("'Relu' has no fields"));
    EXPECT_THAT(plan.errors()[0].notes, ElementsAre(HasSubstr("apply<Relu>"), HasSubstr("int unused")));
}

TEST(Structs, GradientsAreNamedByParameterOrByField) {
    const std::string call = R"({"function": "shade", "args": {"scene": "value", "at": "value"},
                                 "backward": {"inputs": [")";
    const auto all = plan_of(call + R"(scene"]}})", functions());
    const auto one = plan_of(call + R"(scene.turn"]}})", functions());
    ASSERT_TRUE(all && one);
    EXPECT_EQ(only(all).arguments[1].host.gradient, manifest::Gradient::automatic);
    EXPECT_EQ(only(one).arguments[1].host.gradient, manifest::Gradient::never);
    EXPECT_EQ(only(one).arguments[2].host.gradient, manifest::Gradient::automatic);
    EXPECT_THAT(ids(plan_of(call + R"(scene.sky"]}})", functions())), ElementsAre("backward-input"));
}

TEST(Structs, InArraysAreGivenElementByElement) {
    Type buffer;
    buffer.kind = TypeKind::buffer;
    buffer.name = "RWStructuredBuffer<float>";
    buffer.is_writable = true;
    buffer.element = {type_named("float")};
    const Type layer = struct_of("Layer",
                                 {{"weights", type_named("DiffTensor<float, 2>")},
                                  {"sums", array_of(buffer, 2)},
                                  {"scale", type_named("float")}},
                                 false);
    Function run = function_of("float", "run", {{"float", "net"}, {"float", "x"}});
    run.parameters[0].type =
        struct_of("Net", {{"layers", array_of(layer, 2)}, {"gains", type_named("float[3]")}}, false);
    const std::string call =
        R"({"function": "run", "backward": {"inputs": ["x", "INPUT"]}, "args": {"x": "value",
        "net": {"fields": {"gains": "value", "layers": {"fields": {"weights": "tensor[2]", "sums": "rwbuffer",
        "scale": "value"}}}}}})";
    const auto with = [&](const std::string& input) {
        std::string text = call;
        return plan_of(text.replace(text.find("INPUT"), 5, input), {run});
    };
    const auto plan = with("net.layers[1]");
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const PlannedCall& planned = only(plan);
    std::vector<std::string> names;
    for (const PlannedArgument& argument : planned.arguments) {
        names.push_back(argument.host.name);
        if (argument.is_result || argument.host.name == "x") continue;
        EXPECT_EQ("net" + argument.path, argument.host.name);
    }
    EXPECT_THAT(names,
                ElementsAre("net.layers[0].weights", "net.layers[0].sums[0]", "net.layers[0].sums[1]",
                            "net.layers[0].scale", "net.layers[1].weights", "net.layers[1].sums[0]",
                            "net.layers[1].sums[1]", "net.layers[1].scale", "net.gains", "x", "result"));
    const manifest::ParameterTree& layers = planned.parameters[0].host.fields.at(0);
    EXPECT_TRUE(manifest::is_array(layers));
    EXPECT_EQ(layers.type, "Layer[2]");
    EXPECT_EQ(layers.fields.at(1).name, "[1]");
    EXPECT_EQ(layers.fields.at(1).leaf, 4);
    EXPECT_EQ(layers.fields.at(1).type, "Layer");
    EXPECT_TRUE(manifest::is_array(layers.fields.at(1).fields.at(1)));
    EXPECT_EQ(planned.arguments[0].host.gradient, manifest::Gradient::never);
    EXPECT_EQ(planned.arguments[4].host.gradient, manifest::Gradient::automatic);
    // Parts of a name name nothing.
    EXPECT_THAT(ids(with("net.lay")), ElementsAre("backward-input"));
    EXPECT_THAT(ids(with("net.layers[2]")), ElementsAre("backward-input"));
}

TEST(Structs, HoldSoMuchAndNoMore) {
    const auto plan = plan_of(
        R"({"function": "many", "args": {"x": "value", "y": "value", "z": "tensor[1]"}})", functions());
    ASSERT_THAT(ids(plan), ElementsAre("type-not-supported", "struct-layout"));
    EXPECT_THAT(plan.errors().back().message, HasSubstr("a 'All' is 1064960 bytes long"));
}

TEST(Structs, WithTexturesSayWhatDoesInstead) {
    const auto plan = plan_of(R"({"function": "flag", "args": {"light": "value"}})", functions());
    ASSERT_FALSE(plan);
    ASSERT_FALSE(plan.errors().front().notes.empty());
    EXPECT_THAT(plan.errors().front().notes.front(), HasSubstr("where it has the kind 'texture2d'"));
    const auto mode = plan_of(R"({"function": "mode", "args": {"x": "value"}})", functions());
    ASSERT_FALSE(mode);
    EXPECT_THAT(mode.errors().front().notes.front(), HasSubstr("convert it in Slang"));
}

struct Refused {
    const char* call;
    const char* id;
    const char* text;
};

class RefusedStructs : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedStructs, AreErrorsAtTheirPlace) {
    const auto plan = plan_of(GetParam().call, functions());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.errors().front().id, GetParam().id);
    EXPECT_THAT(plan.errors().front().message, HasSubstr(GetParam().text));
    EXPECT_GT(plan.errors().front().location.line, 0);
    EXPECT_GT(plan.errors().front().location.column, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedStructs,
    ::testing::Values(
        Refused{R"({"function": "brackets", "args": {"x": "tensor[1]"}})", "struct-layout",
                "argument 'x.bracketed': struct 'Bracketed' has a no_diff array"},
        Refused{R"({"function": "brackets", "args": {"x": {"fields": {"bracketed": {"fields":
                    {"depth": "value"}}}}}})",
                "struct-layout", "argument 'x.bracketed': struct 'Bracketed' has a no_diff array"},
        Refused{R"({"function": "shade", "args": {"at": "value", "scene": {"fields": {"lights": "value",
                    "turn": "value"}}}})",
                "field-missing", "field 'scale' of 'Scene'"},
        Refused{R"({"function": "shade", "args": {"at": "value", "scene": {"fields": {"lights": "value",
                    "turn": "value", "scale": "value", "sky": "value"}}}})",
                "field-unknown", "has no field 'sky'"},
        Refused{R"({"function": "shade", "args": {"scene": "value", "at": {"fields": {"x": "value",
                    "y": "value", "w": "value"}}}})",
                "field-unknown", "has no field 'w'"},
        Refused{R"({"function": "make", "args": {"x": {"fields": {"y": "value"}}}})", "argument-type",
                "only structs and vectors have fields"},
        Refused{R"({"function": "shade", "args": {"at": "value", "scene": "tensor<float3>[1]"}})",
                "argument-type", "can't feed a parameter of type 'Scene'"},
        Refused{R"({"function": "flag", "args": {"light": "value"}})", "struct-layout",
                "field 'light.handle' has type 'Texture2D<float>'"},
        Refused{R"({"function": "many", "args": {"x": "value", "y": "value", "z": "value"}})",
                "type-not-supported", "argument 'x': 'float[4097]' from 'value' makes 4097 scalars"},
        Refused{R"({"function": "make", "args": {"x": "value<float[5000]>"}})", "type-not-supported",
                "makes 5000 scalars"},
        Refused{R"({"function": "shade", "args": {"scene": "value", "at": "tensor<float3[2000]>[1]"}})",
                "type-not-supported", "makes 6000 scalars"},
        Refused{R"({"function": "dunder", "args": {"odd": "tensor[1]"}})", "struct-layout",
                "field 'odd.__class__' of struct 'Odd' can't be a field in C++ and Python"},
        Refused{R"({"function": "dunder", "args": {"odd": {"fields": {"__class__": "value"}}}})",
                "struct-layout", "field 'odd.__class__' of struct 'Odd' can't be"},
        Refused{R"({"function": "base", "args": {"x": "value"}})", "struct-layout",
                "argument 'x.derived': struct 'Derived' inherits from another struct"},
        Refused{R"({"function": "base", "args": {"x": {"fields": {"derived": {"fields":
                    {"depth": "value"}}}}}})",
                "struct-layout", "argument 'x.derived': struct 'Derived' inherits from another struct"},
        Refused{R"({"function": "shade", "args": {"at": "value", "scene": {"fields": {"lights": "value",
                    "turn": "tensor<float>[1]", "scale": "value"}}}})",
                "argument-rank", "argument 'scene.turn'"},
        Refused{R"({"function": "shade", "args": {"at": "tensor[2]", "scene": "value"},
                    "result": {"fields": {"x": "value"}}})",
                "argument-type", "'result'"}));

}  // namespace
}  // namespace kf::gen
