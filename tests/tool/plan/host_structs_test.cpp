// Calls that take structs in the layout of the user's own C++ structs.
#include "plan/host_structs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::function_of;
using test::struct_of;
using test::type_named;
using testing::ElementsAre;
using testing::HasSubstr;

/// float3 origin behind float t, with 16 bytes a vector: C++ has them the other way round.
Type ray() { return struct_of("Ray", {{"t", type_named("float")}, {"rows", type_named("float2x3")}}); }

HostStructs hosts() {
    HostStruct host{"app::Ray", "ray.h", 48, 16, {{"t", 32, 32, {}}, {"rows", 0, 0, {4, 1}}}, false, {}};
    return {{"Ray", std::make_shared<const HostStruct>(std::move(host))}};
}

/// f(Ray ray), and its result.
Module module_taking(Type parameter, Type result) {
    Function function = function_of("float", "f", {{"float", "ray"}});
    function.parameters.front().type = std::move(parameter);
    function.result = std::move(result);
    Module module;
    module.functions = {std::move(function)};
    return module;
}

Outcome<Plan> plan(const Module& module, const std::string& kind, const HostStructs& structs) {
    const Outcome<Spec> spec = parse_spec(
        R"({"version": 1, "name": "p", "modules": ["a.slang"], "calls": [{"function": "f", "args": {"ray": ")" +
            kind + R"("}}]})",
        "a.kf.json");
    if (!spec) return spec.errors();
    return resolve(spec.value(), module, nullptr, structs);
}

std::string refusal(const Module& module, const std::string& kind, const HostStructs& structs) {
    const Outcome<Plan> planned = plan(module, kind, structs);
    return planned ? std::string() : format_text(planned.errors().front());
}

TEST(HostStructs, KernelsFindFieldsWhereCppHasThem) {
    const Outcome<Plan> planned = plan(module_taking(ray(), type_named("float")), "tensor[1]", hosts());
    ASSERT_TRUE(planned) << format_text(planned.errors().front());
    const PlannedCall& call = planned.value().functions.at(0).calls.at(0);
    EXPECT_EQ(call.parameters.at(0).host.size, 48);
    const manifest::Argument& t = call.arguments.at(0).host;
    EXPECT_EQ(t.offset, 32);
    EXPECT_EQ(t.pitch, 12);
    EXPECT_TRUE(t.spacing.empty());
    const manifest::Argument& rows = call.arguments.at(1).host;
    EXPECT_EQ(rows.offset, 0);
    EXPECT_THAT(rows.spacing, ElementsAre(4, 1));
    EXPECT_EQ(call.parameters.at(0).type.host->type, "app::Ray");
}

TEST(HostStructs, ArraysOfThemHaveTheirPitch) {
    const Type scene = struct_of("Scene", {{"rays", test::array_of(ray(), 2)}});
    const Outcome<Plan> planned = plan(module_taking(scene, type_named("float")), "value", hosts());
    ASSERT_TRUE(planned) << format_text(planned.errors().front());
    const PlannedCall& call = planned.value().functions.at(0).calls.at(0);
    EXPECT_THAT(call.arguments.at(0).host.spacing, ElementsAre(12));
    EXPECT_THAT(call.arguments.at(1).host.spacing, ElementsAre(12, 4, 1));
}

TEST(HostStructs, PointersLeadToSlangsLayoutAlone) {
    Type pointer;
    pointer.kind = TypeKind::pointer;
    pointer.name = "Ptr<Ray>";
    pointer.element = {ray()};
    EXPECT_EQ(refusal(module_taking(pointer, type_named("float")), "pointer", {}), "");
    EXPECT_THAT(refusal(module_taking(pointer, type_named("float")), "pointer", hosts()),
                HasSubstr("functions find structs by themselves, as Slang lays them out, and the C++ struct "
                          "'app::Ray' has another layout than 'Ray' [type-not-supported]"));
}

TEST(HostStructs, CallsMakeNoTensorWithMembersThatNobodyWrites) {
    const Module module = module_taking(type_named("float"), ray());
    HostStructs structs = hosts();
    EXPECT_EQ(refusal(module, "tensor[1]", structs), "");
    HostStruct more = *structs.at("Ray");
    more.unwritten = "'id' (ray.h:7:9)";
    structs["Ray"] = std::make_shared<const HostStruct>(std::move(more));
    EXPECT_EQ(refusal(module, "value", structs), "");
    EXPECT_THAT(
        refusal(module, "tensor[1]", structs),
        HasSubstr("argument 'result': the call would make a tensor of 'app::Ray', whose 'id' (ray.h:7:9) no "
                  "kernel writes, since Slang's 'Ray' lacks it [host-struct]\n    note: make the parameter "
                  "inout, so that the host gives the tensor; or give Slang's struct that field"));
}

TEST(HostStructs, MembersOfUnionsAreReadTogetherAndNotWritten) {
    HostStruct host = *hosts().at("Ray");
    host.fields[0].offset = 4;  // where the rows have their second number
    const HostStructs structs{{"Ray", std::make_shared<const HostStruct>(std::move(host))}};
    EXPECT_EQ(refusal(module_taking(ray(), type_named("float")), "tensor[1]", structs), "");
    EXPECT_THAT(
        refusal(module_taking(type_named("float"), ray()), "tensor[1]", structs),
        HasSubstr("arguments 'result.t' and 'result.rows' lie in the same bytes of the host's struct, and "
                  "the call writes one of them or its gradient [host-struct]"));
}

}  // namespace
}  // namespace kf::gen
