// Tests which pointers feed which parameters, and what is said of the others.
#include "plan/kinds/pointer.h"

#include <gmock/gmock.h>

#include "plan/memory_layout.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Access;
using manifest::Pointee;
using test::array_of;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using testing::ElementsAre;
using testing::HasSubstr;

Type pointer_to(std::vector<Type> pointee, bool writable = true) {
    Type type;
    type.kind = TypeKind::pointer;
    type.name = "Ptr<…>";
    type.element = std::move(pointee);
    type.is_writable = writable;
    return type;
}

Outcome<Plan> pointer_plan(const Type& type, const std::string& kind = "pointer") {
    Function function = function_of("float", "f", {{"float", "p"}});
    function.parameters.front().type = type;
    return plan_of(R"({"function": "f", "args": {"p": ")" + kind + "\"}}", {function});
}

Type pointed_particle() {
    return struct_of("Particle", {{"position", type_named("float3")}, {"mass", type_named("float")}});
}

struct PointerRow {
    Type type;
    Pointee pointee;
    std::int64_t bytes;
    std::int64_t alignment;
    std::string name;
};

TEST(Pointers, KnowWhatTheyLeadTo) {
    const std::vector<PointerRow> rows{
        {pointer_to({type_named("float")}), Pointee::values, 4, 4, "float*"},
        {pointer_to({type_named("float3")}), Pointee::values, 12, 4, "float3*"},
        {pointer_to({type_named("float4")}), Pointee::values, 16, 16, "float4*"},
        {pointer_to({type_named("half2")}), Pointee::values, 4, 4, "half2*"},
        {pointer_to({pointed_particle()}), Pointee::structs, 16, 4, "Particle*"},
        {pointer_to({}), Pointee::anything, 1, 1, "Ptr<…>"},
    };
    for (const PointerRow& row : rows) {
        const Outcome<Plan> plan = pointer_plan(row.type);
        ASSERT_TRUE(plan) << plan.errors().front().message;
        const PlannedCall& call = plan.value().functions.front().calls.front();
        EXPECT_EQ(call.rank, 0);
        const manifest::Argument& argument = call.arguments.front().host;
        const auto& pointer = std::get<manifest::kinds::Pointer>(argument.kind);
        EXPECT_EQ(pointer.pointee, row.pointee) << row.name;
        EXPECT_EQ(pointer.access, Access::read_write);
        EXPECT_EQ(pointer.alignment, row.alignment) << row.name;
        EXPECT_EQ(manifest::scalar_bytes(argument.element.scalar) * scalar_count(argument.element.extents),
                  row.bytes)
            << row.name;
        EXPECT_EQ(argument.type, row.name);
    }
}

TEST(Pointers, MayOnlyRead) {
    const Outcome<Plan> plan = pointer_plan(pointer_to({type_named("float")}, false));
    ASSERT_TRUE(plan);
    const manifest::Argument& argument = plan.value().functions.front().calls.front().arguments.front().host;
    EXPECT_FALSE(may_write_through(argument));
}

TEST(Pointers, AreRefusedByName) {
    const Outcome<Plan> number = pointer_plan(type_named("float"));
    EXPECT_THAT(ids(number), ElementsAre("argument-type"));
    EXPECT_THAT(number.errors().front().message, HasSubstr("argument 'p': a pointer can't feed"));
    const Outcome<Plan> bools = pointer_plan(pointer_to({struct_of("Flags", {{"on", type_named("bool2")}})}));
    EXPECT_THAT(ids(bools), ElementsAre("type-not-supported"));
    EXPECT_THAT(bools.errors().front().message, HasSubstr("'Flags*' leads to bools"));
    const Outcome<Plan> tensor = pointer_plan(pointer_to({type_named("float")}), "tensor[1]");
    EXPECT_THAT(ids(tensor), ElementsAre("type-not-supported"));
    EXPECT_THAT(tensor.errors().front().notes, ElementsAre("give it the kind 'pointer'"));
}

TEST(MemoryLayouts, OfCuda) {
    const auto size = [](const Type& type) { return cuda_layout(type).size; };
    const auto alignment = [](const Type& type) { return cuda_layout(type).alignment; };
    EXPECT_EQ(size(type_named("half3")), 8);
    EXPECT_EQ(alignment(type_named("half4")), 4);
    EXPECT_EQ(alignment(type_named("double4")), 16);
    EXPECT_EQ(alignment(type_named("float2x2")), 8);
    EXPECT_EQ(size(type_named("float3x3")), 36);
    EXPECT_EQ(size(array_of(type_named("float2"), 3)), 24);
}

TEST(MemoryLayouts, ThatDiffer) {
    EXPECT_EQ(cuda_difference(pointed_particle()), "");
    EXPECT_EQ(cuda_difference(type_named("float4x4")), "");
    EXPECT_EQ(cuda_difference(type_named("half3")),
              "a 'half3' has 8 bytes in CUDA, and 6 bytes on Vulkan and the host");
    const Type spaced =
        struct_of("Ball", {{"radius", type_named("float")}, {"velocity", type_named("float2")}});
    EXPECT_EQ(cuda_difference(spaced),
              "field 'velocity' of 'Ball' is at byte 8 in CUDA, and at byte 4 on Vulkan and the host");
    const Type padded =
        struct_of("Disk", {{"center", type_named("float2")}, {"radius", type_named("float")}});
    EXPECT_EQ(cuda_difference(struct_of("Pile", {{"disks", array_of(padded, 2)}})),
              "a 'Disk' has 16 bytes in CUDA, and 12 bytes on Vulkan and the host");
}

}  // namespace
}  // namespace kf::gen
