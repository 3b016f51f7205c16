// Which values link-time declarations take, and which variants a call may have.
#include "plan/link_time.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::array_of;
using test::function_of;
using test::ids;
using test::struct_of;
using test::type_named;
using testing::ElementsAre;
using testing::HasSubstr;

Type interface_of(const std::string& name) {
    Type type;
    type.kind = TypeKind::interface;
    type.name = name;
    return type;
}

/// Knows A and B, which conform to I and ns.I, C, which doesn't, and I itself.
class FewTypes final : public TypeLookup {
public:
    Outcome<std::optional<Type>> type_named(const std::string& name) override {
        if (name == "I") return std::optional(interface_of(name));
        if (name == "A" || name == "B" || name == "C") return std::optional(struct_of(name, {}));
        return std::optional<Type>();
    }
    Outcome<bool> conforms(const std::string& type, const std::string& interface_name) override {
        return (type == "A" || type == "B") && (interface_name == "I" || interface_name == "ns.I");
    }
};

LinkDeclaration constant(const std::string& name, const std::string& type, bool gives = false) {
    return {name, {"functions.slang", 7, 25}, gives, false, type_named(type), {}};
}

LinkDeclaration type_left(const std::string& name, const std::string& interfaces, bool gives = false) {
    return {name, {"functions.slang", 8, 15}, gives, false, {}, interfaces};
}

Module module_of(std::vector<LinkDeclaration> link) {
    Module module;
    module.module_names = {"functions"};
    module.functions = {function_of("float", "f", {{"float", "x"}})};
    module.link = std::move(link);
    return module;
}

const Module declared =
    module_of({constant("N", "int"), constant("half_one", "half"), constant("ns.K", "uint8_t"),
               constant("V", "float3"), type_left("T", "I"), type_left("ns.T", "I, I"),
               constant("given", "int"), constant("given", "int", true)});

Outcome<Plan> linked_plan(const std::string& top, const std::string& call = "",
                          const Module& module = declared) {
    const std::string text = R"({"version": 1, "name": "functions", "modules": ["functions.slang"],)"
                             "\n" +
                             top + R"("calls": [{"function": "f", "args": {"x": "tensor[1]"})" + call + "}]}";
    const Outcome<Spec> parsed = parse_spec(text, "functions.kf.json");
    if (!parsed) return parsed.errors();
    FewTypes types;
    return resolve(parsed.value(), module, &types);
}

const LinkTime& link_of(const Outcome<Plan>& plan, std::size_t function = 0) {
    return plan.value().functions.at(function).calls.front().link;
}

TEST(LinkTime, ValuesTakeTheDeclaredType) {
    const Outcome<Plan> plan = linked_plan(
        R"("constants": {"N": -5, "half_one": {"type": "half", "value": 1}, "ns.K": 255},
           "types": {"T": "A", "ns.T": "B"}, "conformances": [{"interface": "I", "type": "A", "id": 4},
                                                              {"interface": "I", "type": "B"}],)");
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const LinkTime& link = link_of(plan);
    ASSERT_EQ(link.constants.size(), 3U);
    EXPECT_EQ(link.constants[0], (LinkConstant{"N", type_named("int"), "-5"}));
    EXPECT_EQ(link.constants[1], (LinkConstant{"half_one", type_named("half"), "1"}));
    EXPECT_EQ(link.constants[2], (LinkConstant{"ns.K", type_named("uint8_t"), "255"}));
    EXPECT_THAT(link.types, ElementsAre(LinkType{"T", "I", "A"}, LinkType{"ns.T", "I, I", "B"}));
    EXPECT_THAT(link.conformances, ElementsAre(Conformance{"I", "A", 4}, Conformance{"I", "B", 1}));
}

struct BadRow {
    std::string top;
    std::string id;
    std::string message;
    std::int64_t column;
};

void PrintTo(const BadRow& row, std::ostream* out) { *out << row.top; }

class BadValues : public testing::TestWithParam<BadRow> {};

TEST_P(BadValues, AreErrorsAtTheirPlace) {
    const BadRow& row = GetParam();
    const Outcome<Plan> plan = linked_plan(row.top + ",");
    ASSERT_THAT(ids(plan), ElementsAre(row.id));
    const Diagnostic& error = plan.errors().front();
    EXPECT_THAT(error.message, HasSubstr(row.message));
    EXPECT_EQ(error.location, (Location{"functions.kf.json", 2, row.column}));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadValues,
    testing::Values(
        BadRow{R"("constants": {"N": 1.5})", "constant-value", "'N': 1.5 is no value of 'int'", 20},
        BadRow{R"("constants": {"ns.K": 300})", "constant-value", "300 is no value of 'uint8_t'", 23},
        BadRow{R"("constants": {"N": {"type": "uint", "value": 1}})", "link-type", "'int', not as 'uint'",
               15},
        BadRow{R"("constants": {"V": 1})", "link-type", "is a 'float3'", 15},
        BadRow{R"("constants": {"M": 1})", "link-unknown", "declares a link-time constant 'M'", 15},
        BadRow{R"("constants": {"T": 1})", "link-unknown", "declares a link-time constant 'T'", 15},
        BadRow{R"("constants": {"given": 1})", "link-twice", "'given' is given by a module, too", 15},
        BadRow{R"("types": {"N": "A"})", "link-unknown", "declares a link-time type 'N'", 11},
        BadRow{R"("types": {"T": "D"})", "link-type", "no module has a type 'D'", 11},
        BadRow{R"("types": {"ns.T": "C"})", "link-type", "'C' doesn't conform to 'I'", 11},
        BadRow{R"("conformances": [{"interface": "J", "type": "A"}])", "conformance-type", "has a type 'J'",
               18},
        BadRow{R"("conformances": [{"interface": "I", "type": "D"}])", "conformance-type", "has a type 'D'",
               18},
        BadRow{R"("conformances": [{"interface": "I", "type": "C"}])", "conformance-type",
               "'C' doesn't conform", 18},
        BadRow{R"("conformances": [{"interface": "A", "type": "B"}])", "conformance-type", "is no interface",
               18},
        BadRow{
            R"("conformances": [{"interface": "I", "type": "A"}, {"interface": "I", "type": "B", "id": 0}])",
            "conformance-type", "the id 0 of 'I' stands for 'A' and for 'B'", 51},
        BadRow{R"("conformances": [{"interface": "I", "type": "A"}, {"interface": "I", "type": "A"}])",
               "conformance-type", "is listed twice", 51}));

TEST(LinkTime, UnknownNamesComeWithASuggestion) {
    const Outcome<Plan> plan = linked_plan(R"("constants": {"ns.k": 1},)");
    ASSERT_THAT(ids(plan), ElementsAre("link-unknown"));
    EXPECT_THAT(plan.errors().front().notes,
                ElementsAre("did you mean 'ns.K'?", "link-time constants: N, half_one, ns.K, V, given"));
    const Outcome<Plan> none = linked_plan(R"("constants": {"N": 1},)", "", module_of({}));
    ASSERT_THAT(ids(none), ElementsAre("link-unknown"));
    EXPECT_THAT(none.errors().front().notes,
                ElementsAre("it would be declared 'extern static const int N;'"));
}

/// N, an extern one, and specialization constants of several types, of which one is an enum.
Module specialized() {
    Module module = declared;
    Type mode = type_named("int");
    mode.name = "Mode";
    mode.is_enum = true;
    for (LinkDeclaration one :
         {constant("taps", "int"), constant("gain", "float"),
          LinkDeclaration{"mode", {"functions.slang", 7, 25}, false, false, mode, {}}}) {
        one.is_specialization = true;
        module.link.push_back(one);
    }
    return module;
}

TEST(ConstantsAtRunTime, AreListed) {
    const Outcome<Plan> plan = linked_plan(
        R"("constants": {"N": 5, "taps": [3, 8, 3.5], "gain": {"type": "float", "value": [0.5]}},)", "",
        specialized());
    ASSERT_THAT(ids(plan), ElementsAre("constant-value")) << "3.5 is no int";
    const Outcome<Plan> good =
        linked_plan(R"("constants": {"N": 5, "taps": [3, 8], "gain": {"type": "float", "value": [0.5, 1]}},)",
                    R"(, "variants": {"six": {"constants": {"N": 6}}})", specialized());
    ASSERT_TRUE(good) << good.errors().front().message;
    for (const std::size_t function : {0U, 1U}) {
        const LinkTime& link = link_of(good, function);
        ASSERT_EQ(link.kept().size(), 2U);
        EXPECT_EQ(link.kept()[0]->name, "taps");
        EXPECT_THAT(link.kept()[1]->values, ElementsAre("0.5", "1"));
        EXPECT_THAT(link.default_values(), ElementsAre("3", "0.5"));
        EXPECT_THAT(link.combinations(),
                    ElementsAre(ElementsAre("3", "1"), ElementsAre("8", "0.5"), ElementsAre("8", "1")));
        EXPECT_TRUE(link.with({"8", "1"}).kept().empty());
        EXPECT_EQ(link.with({"8", "1"}).constant("taps")->value, "8");
    }
    EXPECT_EQ(good.value().link.kept().size(), 2U);
}

TEST(ConstantsAtRunTime, AreRefusedWhereTheyCanNotBe) {
    struct MisplacedList {
        std::string top, call, message;
        Location place;
    };
    const auto at = [](std::int64_t line, std::int64_t column) {
        return Location{"functions.kf.json", line, column};
    };
    for (
        const MisplacedList& row :
        {MisplacedList{R"("constants": {"N": [5]})", "",
                       "has a list of values, which are for specialization constants", at(2, 15)},
         MisplacedList{R"("constants": {"mode": [5]})", "", "has a list of values, and is an enum",
                       at(2, 15)},
         MisplacedList{R"("constants": {"taps": [5]})", R"(, "variants": {"v": {"constants": {"taps": 6}}})",
                       "is listed for run time to choose: a variant can't fix it", at(2, 117)},
         MisplacedList{R"("constants": {"taps": 5})", R"(, "variants": {"v": {"constants": {"taps": [6]}}})",
                       "has a list of values in a variant", at(2, 115)},
         MisplacedList{R"("outputs": ["cuda_header"], "constants": {"taps": [5]})", "",
                       "a device header has one value of 'taps'", at(2, 13)},
         MisplacedList{
             R"("targets": ["cuda"], "constants": {"taps": [1, 2, 3, 4, 5, 6, 7, 8, 9], "gain": [1, 2, 3, 4, 5, 6, 7, 8]})",
             "", "have more than 64 combinations", at(2, 36)}}) {
        SCOPED_TRACE(row.message);
        const Outcome<Plan> plan = linked_plan(row.top + ",", row.call, specialized());
        ASSERT_THAT(ids(plan), ElementsAre("constant-at-run-time"));
        EXPECT_THAT(plan.errors().front().message, HasSubstr(row.message));
        EXPECT_EQ(plan.errors().front().location, row.place);
    }
}

TEST(ConstantsAtRunTime, AreNoExtents) {
    Module module = specialized();
    Type array = array_of(type_named("float"), 3);
    array.link_extent = "taps";
    module.functions.front().parameters.front().type = struct_of("S", {{"w", array}});
    const Outcome<Plan> plan = linked_plan(R"("constants": {"taps": [3]},)", "", module);
    ASSERT_THAT(ids(plan), ElementsAre("constant-at-run-time"));
    EXPECT_THAT(plan.errors().front().message,
                HasSubstr("the size of the parameter 'x' of 'f' depends on it"));
    array.link_extent = "steps";
    module.functions.front().parameters.front().type = struct_of("S", {{"w", array}});
    EXPECT_TRUE(linked_plan(R"("constants": {"taps": [3]},)", "", module));
}

TEST(LinkTime, TwoModulesMayNotGiveOne) {
    LinkDeclaration second = constant("N", "int", true);
    second.location.line = 9;
    const Outcome<Plan> plan =
        linked_plan("", "", module_of({constant("N", "int"), constant("N", "int", true), second}));
    ASSERT_THAT(ids(plan), ElementsAre("link-twice"));
    EXPECT_EQ(plan.errors().front().location, second.location);
    EXPECT_THAT(plan.errors().front().notes, ElementsAre("'export' at functions.slang:7:25"));
}

TEST(LinkTime, SizesNeedAValue) {
    Module module = declared;
    Type array = array_of(type_named("float"), 0);
    const auto plan = [&](const std::string& extent) {
        array.link_extent = extent;
        module.functions.front().parameters.front().type = struct_of("S", {{"w", array}});
        return linked_plan("", "", module);
    };
    const Outcome<Plan> missing = plan("N");
    ASSERT_THAT(ids(missing), ElementsAre("link-missing"));
    EXPECT_THAT(missing.errors().front().message, HasSubstr("the parameter 'x' of 'f'"));
    EXPECT_THAT(missing.errors().front().message, HasSubstr("'N' has no value"));
    EXPECT_THAT(ids(plan("N + 1")), ElementsAre("type-not-supported"));
    array.extent = 3;
    EXPECT_TRUE(plan("N"));
}

TEST(Variants, AreFunctionsOfTheirOwn) {
    const Outcome<Plan> outcome = linked_plan(R"("constants": {"N": 2, "ns.K": 1}, "types": {"T": "A"},)",
                                              R"(, "backward": true, "forward_diff": true,
            "accumulate": {"x.grad": ["sum", "push"]}, "variants": {
            "tiled": {"threads": [8, 4]}, "five": {"constants": {"N": 5}, "types": {"T": "B"},
            "conformances": [{"interface": "I", "type": "B"}]}})");
    ASSERT_TRUE(outcome) << outcome.errors().front().message;
    const Plan& plan = outcome.value();
    std::vector<std::string> names;
    for (const PlannedFunction& function : plan.functions) names.push_back(function.name);
    ASSERT_EQ(names.size(), 12U) << "two ways of each, and their forward derivatives";
    EXPECT_EQ(names[0], "f");
    EXPECT_EQ(names[1], "f.options(variant=tiled)");
    EXPECT_EQ(names[2], "f.options(variant=five)");
    EXPECT_EQ(names[3], "f.accumulate(x.grad=push)");
    EXPECT_EQ(names[5], "f.options(variant=five).accumulate(x.grad=push)");
    EXPECT_EQ(names[8], "f.options(variant=five).jvp");
    const PlannedFunction& base = plan.functions[0];
    ASSERT_EQ(base.option_sets.size(), 2U);
    EXPECT_EQ(base.option_sets[0], (manifest::OptionSet{"tiled", {8, 4}, {}, {}, {}, 1}));
    EXPECT_EQ(base.option_sets[1],
              (manifest::OptionSet{"five", {}, {{"N", "5"}}, {{"T", "B"}}, {{"I", "B", 0}}, 2}));
    for (const std::size_t variant : {1U, 2U}) {
        EXPECT_EQ(plan.functions[variant].option_sets, base.option_sets);
        EXPECT_TRUE(plan.functions[variant].is_hidden());
        EXPECT_EQ(plan.functions[variant].chosen.size(), 2U);
    }
    EXPECT_EQ(base.calls.front().group_size[0], 256U);
    EXPECT_EQ(plan.functions[1].calls.front().group_size[0], 32U);
    EXPECT_EQ(link_of(outcome, 1), link_of(outcome, 0)) << "what a variant doesn't name is as without it";
    const LinkTime& five = link_of(outcome, 2);
    EXPECT_THAT(five.constants, ElementsAre(LinkConstant{"N", type_named("int"), "5"},
                                            LinkConstant{"ns.K", type_named("uint8_t"), "1"}));
    EXPECT_THAT(five.types, ElementsAre(LinkType{"T", "I", "B"}));
    EXPECT_EQ(link_of(outcome, 8), five) << "of its forward derivative";
}

TEST(Variants, ThatSayNothingOrTooMuchAreErrors) {
    EXPECT_THAT(ids(linked_plan("", R"(, "variants": {"a": {}})")), ElementsAre("variant-options"));
    EXPECT_THAT(ids(linked_plan("", R"(, "variants": {"a": {"constants": {"M": 1}}})")),
                ElementsAre("link-unknown"));
    Module sized = declared;
    Type array = array_of(type_named("float"), 3);
    array.link_extent = "N";
    sized.functions.front().parameters.front().type = array;
    EXPECT_THAT(ids(linked_plan("", R"(, "variants": {"a": {"constants": {"N": 1}}})", sized)),
                ElementsAre("variant-options"));
    EXPECT_TRUE(linked_plan("", R"(, "variants": {"a": {"threads": [32]}})", sized));
}

TEST(Variants, MapsKeepWhatHostsPass) {
    const auto plan = [](const std::string& map) {
        return linked_plan("", R"(, "variants": {"a": {"map": {)" + map + "}}}");
    };
    const Outcome<Plan> same = plan(R"("x": [0])");
    ASSERT_TRUE(same) << same.errors().front().message;
    ASSERT_EQ(same.value().functions.size(), 2U);
    EXPECT_EQ(same.value().functions[1].name, "f.options(variant=a)");
    EXPECT_THAT(same.value().functions[1].calls[0].arguments[0].host.map, ElementsAre(0));
    EXPECT_THAT(ids(plan(R"("x": [1])")), ElementsAre("variant-options")) << "a call of rank 2";
    EXPECT_THAT(ids(plan(R"("x": [0, 1])")), ElementsAre("argument-map"));
    EXPECT_THAT(ids(plan(R"("y": [0])")), ElementsAre("variant-options"));
    const Outcome<Plan> result = plan(R"("result": [0])");
    ASSERT_THAT(ids(result), ElementsAre("variant-options"));
    EXPECT_THAT(result.errors().front().message,
                HasSubstr("maps 'result', of which the call of 'f' states no kind"));
}

TEST(Variants, MapsPlaceArgumentsAnew) {
    const std::string text = R"({"version": 1, "name": "functions", "modules": ["functions.slang"],
        "constants": {"N": 3}, "calls": [
        {"function": "g", "args": {"x": "tensor[2]", "w": {"kind": "tensor[1]", "map": [0]}},
         "variants": {"columns": {"map": {"w": [1]}}, "wide": {"map": {"w": [2]}}}}]})";
    const auto plan = [&](const std::string& spec) {
        Module module = declared;
        module.functions.push_back(module.functions.front());
        module.functions.back().name = "g";
        module.functions.back().parameters.push_back(module.functions.back().parameters.front());
        module.functions.back().parameters.back().name = "w";
        FewTypes types;
        return resolve(parse_spec(spec, "functions.kf.json").value(), module, &types);
    };
    EXPECT_THAT(ids(plan(text)), ElementsAre("variant-options")) << "'wide' makes a call of rank 3";
    std::string good = text;
    good.replace(good.find(R"(, "wide": {"map": {"w": [2]}})"), 29, "");
    const Outcome<Plan> outcome = plan(good);
    ASSERT_TRUE(outcome) << outcome.errors().front().message;
    ASSERT_EQ(outcome.value().functions.size(), 2U);
    EXPECT_THAT(outcome.value().functions[0].calls[0].arguments[1].host.map, ElementsAre(0));
    EXPECT_THAT(outcome.value().functions[1].calls[0].arguments[1].host.map, ElementsAre(1));
    const PlannedCall& call = outcome.value().functions[0].calls[0];
    ASSERT_EQ(call.variants.size(), 1U);
    EXPECT_EQ(call.link.constants.size(), 1U);
    EXPECT_EQ(call.variants[0].mapped->link, call.link) << "it is planned as far as the call itself";
    EXPECT_EQ(call.variants[0].mapped->variants.size(), 1U);
}

TEST(Variants, OverloadsAgreeOnThem) {
    const auto plan = [](const std::string& second) {
        return linked_plan("", R"(, "variants": {"a": {"threads": [32]}}},
                         {"function": "f", "args": {"x": "value"}, "variants": {)" +
                                   second + "}");
    };
    const Outcome<Plan> same = plan(R"("a": {"threads": [32]}, "b": {"threads": [64]})");
    ASSERT_TRUE(same) << same.errors().front().message;
    EXPECT_EQ(same.value().functions.size(), 3U);
    EXPECT_EQ(same.value().functions[2].calls[0].group_size[0], 256U) << "the first overload has no 'b'";
    EXPECT_THAT(ids(plan(R"("a": {"threads": [64]})")), ElementsAre("variant-options"));
}

}  // namespace
}  // namespace kf::gen
