// Tests which buffers feed which parameters, and what is said of the others.
#include "plan/kinds/buffer.h"

#include <gmock/gmock.h>

#include "core/resource_list.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Access;
using manifest::kinds::Buffer;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using testing::ElementsAre;
using testing::HasSubstr;

Type buffer_of(std::vector<Type> element, bool writable = false) {
    Type type;
    type.kind = TypeKind::buffer;
    type.name =
        std::string(writable ? "RW" : "") + (element.empty() ? "ByteAddressBuffer" : "StructuredBuffer");
    type.element = std::move(element);
    type.is_writable = writable;
    return type;
}

Outcome<Plan> buffer_plan(const Type& type, const std::string& kind, Direction direction = Direction::in) {
    Function function = function_of("float", "f", {{"float", "b", direction}, {"float", "x"}});
    function.parameters.front().type = type;
    return plan_of(R"({"function": "f", "args": {"b": ")" + kind + R"(", "x": "tensor[1]"}})", {function});
}

const PlannedCall& call_of(const Outcome<Plan>& plan) { return plan.value().functions.front().calls.front(); }

TEST(Buffers, AreGivenWhole) {
    for (const bool writable : {false, true}) {
        const std::string prefix = writable ? "rw" : "";
        for (const std::string& kind : {prefix + "buffer", std::string("tensor[2]")}) {
            const Outcome<Plan> plan = buffer_plan(buffer_of({type_named("float3")}, writable), kind);
            ASSERT_TRUE(plan) << plan.errors().front().message;
            EXPECT_EQ(call_of(plan).rank, 1);
            const manifest::Argument& argument = call_of(plan).arguments.front().host;
            EXPECT_EQ(std::get<Buffer>(argument.kind),
                      (Buffer{writable ? Access::read_write : Access::read, false}));
            EXPECT_THAT(argument.trailing, ElementsAre(3));
            EXPECT_EQ(writes_elements(argument), writable);
        }
        const Outcome<Plan> bytes = buffer_plan(buffer_of({}, writable), prefix + "byteaddress");
        ASSERT_TRUE(bytes) << bytes.errors().front().message;
        EXPECT_TRUE(std::get<Buffer>(call_of(bytes).arguments.front().host.kind).bytes);
    }
}

TEST(Buffers, OfStructsAreOneResource) {
    const Type particle =
        struct_of("Particle", {{"position", type_named("float3")}, {"mass", type_named("float")}});
    const Outcome<Plan> plan = buffer_plan(buffer_of({particle}, true), "rwbuffer");
    ASSERT_TRUE(plan) << plan.errors().front().message;
    manifest::Call call;
    for (const PlannedArgument& argument : call_of(plan).arguments) call.arguments.push_back(argument.host);
    for (const PlannedParameter& parameter : call_of(plan).parameters)
        call.parameters.push_back(parameter.host);
    ASSERT_EQ(call.arguments.size(), 4U);
    EXPECT_EQ(call.arguments[1].offset, 12);
    EXPECT_EQ(call.arguments[1].pitch, 4);
    EXPECT_THAT(resource_slots(call),
                ElementsAre(manifest::ResourceSlot{"b", manifest::ResourceKind::buffer, true, 16}));
}

TEST(Buffers, FeedElements) {
    const Outcome<Plan> plan = buffer_plan(type_named("float3"), "buffer");
    ASSERT_TRUE(plan) << plan.errors().front().message;
    const manifest::Argument& argument = call_of(plan).arguments.front().host;
    EXPECT_TRUE(std::holds_alternative<manifest::kinds::Tensor>(argument.kind));
    EXPECT_EQ(argument.call_rank, 1);
    EXPECT_TRUE(buffer_plan(type_named("float"), "rwbuffer", Direction::inout));
}

TEST(Buffers, AreRefusedByName) {
    const auto id_of = [](const Outcome<Plan>& plan) { return plan ? "" : plan.errors().front().id; };
    const Type read = buffer_of({type_named("float")});
    const Type written = buffer_of({type_named("float")}, true);
    for (const auto& [type, kind, cure] : std::vector<std::tuple<Type, std::string, std::string>>{
             {read, "rwbuffer", "give it buffer"},
             {written, "buffer", "give it rwbuffer"},
             {written, "value", "give it rwbuffer"},
             {read, "byteaddress", "give it buffer"},
             {buffer_of({}), "buffer", "give it byteaddress"},
             {type_named("float"), "byteaddress",
              "byteaddress feeds a ByteAddressBuffer, rwbyteaddress a RWByteAddressBuffer"}}) {
        const Outcome<Plan> plan = buffer_plan(type, kind);
        ASSERT_THAT(ids(plan), ElementsAre("argument-type")) << kind;
        EXPECT_THAT(plan.errors().front().message, HasSubstr("argument 'b': '" + kind + "' can't feed"));
        EXPECT_THAT(plan.errors().front().notes, ElementsAre(cure));
    }
    EXPECT_EQ(id_of(buffer_plan(buffer_of({type_named("bool2")}), "buffer")), "type-not-supported");
    EXPECT_EQ(id_of(buffer_plan(buffer_of({struct_of("S", {{"on", type_named("bool")}})}), "buffer")),
              "type-not-supported");
    EXPECT_EQ(id_of(buffer_plan(written, "rwbuffer", Direction::inout)), "argument-type");
    for (const auto& [name, cure] : std::vector<std::pair<std::string, std::string>>{
             {"StructuredBuffer<float, Std140DataLayout>", "ScalarDataLayout"},
             {"StructuredBuffer<unorm float4, DefaultDataLayout>", "without a format"},
             {"Buffer<float>", "a module declares a type of this name"},
             {"ConstantBuffer<S, DefaultDataLayout>", "without a macro or typedef"},
             {"RasterizerOrderedTexture2D<float4>", "make it a Texture2D"},
             {"RaytracingAccelerationStructure", "passes no other resources than textures"}}) {
        Type other;
        other.kind = TypeKind::resource;
        other.name = name;
        const Type holder = struct_of("Holder", {{"one", other}});
        for (const Type& type : {other, holder}) {
            const bool alone = type.kind == TypeKind::resource;
            const Outcome<Plan> plan = buffer_plan(type, alone ? "buffer" : "value");
            EXPECT_THAT(ids(plan), ElementsAre(alone ? "type-not-supported" : "struct-layout"));
            EXPECT_THAT(plan.errors().front().notes, ElementsAre(HasSubstr(cure)));
        }
    }
}

}  // namespace
}  // namespace kf::gen
