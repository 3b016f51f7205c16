// Tests which textures and samplers feed which parameters, their formats, and what is said of the others.
#include "plan/kinds/texture.h"

#include <gmock/gmock.h>

#include "core/resource_list.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using manifest::Access;
using manifest::kinds::Sampler;
using manifest::kinds::Texture;
using test::function_of;
using test::ids;
using test::plan_of;
using test::struct_of;
using test::type_named;
using testing::ElementsAre;
using testing::HasSubstr;

Type texture_of(const std::string& element, bool writable = false,
                TextureDimension dimension = TextureDimension::two, bool is_array = false) {
    Type type;
    type.kind = TypeKind::texture;
    type.name = std::string(writable ? "RW" : "") + "Texture<" + element + ">";
    type.element = {type_named(element)};
    type.is_writable = writable;
    type.texture.dimension = dimension;
    type.texture.is_array = is_array;
    return type;
}

Outcome<Plan> texture_plan(const Type& type, const std::string& kind, Direction direction = Direction::in) {
    Function function = function_of("float", "f", {{"float", "t", direction}, {"float", "x"}});
    function.parameters.front().type = type;
    return plan_of(R"({"function": "f", "args": {"t": )" + kind + R"(, "x": "tensor[1]"}})", {function});
}

const PlannedCall& planned_call(const Outcome<Plan>& plan) {
    return plan.value().functions.front().calls.front();
}
const Texture& texture_in(const Outcome<Plan>& plan) {
    return std::get<Texture>(planned_call(plan).arguments.front().host.kind);
}
std::string kind_with(const std::string& kind, const std::string& format) {
    return R"({"kind": ")" + kind + R"(", "format": ")" + format + "\"}";
}

TEST(Textures, AreTakenWhole) {
    const std::vector<std::tuple<TextureDimension, bool, std::string, std::int64_t>> shapes{
        {TextureDimension::one, false, "texture1d", 1},
        {TextureDimension::one, true, "texture1d_array", 1},
        {TextureDimension::two, false, "texture2d", 2},
        {TextureDimension::two, true, "texture2d_array", 2},
        {TextureDimension::three, false, "texture3d", 3},
        {TextureDimension::cube, false, "texturecube", 2},
        {TextureDimension::cube, true, "texturecube_array", 2}};
    for (const auto& [dimension, is_array, kind, rank] : shapes) {
        for (const bool writable : {false, true}) {
            const std::string fitting = (writable ? "\"rw" : "\"") + kind + "\"";
            const Outcome<Plan> plan =
                texture_plan(texture_of("float4", writable, dimension, is_array), fitting);
            ASSERT_TRUE(plan) << plan.errors().front().message;
            EXPECT_EQ(planned_call(plan).rank, 1) << "they give the call no shape";
            const manifest::Argument& argument = planned_call(plan).arguments.front().host;
            EXPECT_EQ(texture_in(plan),
                      (Texture{writable ? Access::read_write : Access::read, dimension, is_array,
                               writable ? "rgba32f" : "", "float", false, false}));
            EXPECT_EQ(argument.rank, rank);
            EXPECT_EQ(argument.call_rank, 0);
            const Outcome<Plan> other = texture_plan(texture_of("float4", writable, dimension, is_array),
                                                     (writable ? "\"" : "\"rw") + kind + "\"");
            EXPECT_THAT(ids(other), ElementsAre("argument-type"));
            EXPECT_THAT(other.errors().front().notes,
                        ElementsAre("give it " + fitting.substr(1, fitting.size() - 2)));
        }
    }
}

TEST(Textures, HaveTheFormatThatIsStated) {
    const std::vector<std::pair<std::string, std::string>> defaults{
        {"float", "r32f"},   {"float2", "rg32f"},  {"float3", "rgba32f"},
        {"half", "r16f"},    {"half3", "rgba16f"}, {"int", "r32i"},
        {"int3", "rgba32i"}, {"uint2", "rg32ui"},  {"uint4", "rgba32ui"}};
    for (const auto& [element, format] : defaults) {
        const Outcome<Plan> plan = texture_plan(texture_of(element, true), "\"rwtexture2d\"");
        ASSERT_TRUE(plan) << plan.errors().front().message;
        EXPECT_EQ(texture_in(plan).format, format);
    }
    Type stated = texture_of("float4", true);
    stated.texture.format = "rgba8";
    EXPECT_EQ(texture_in(texture_plan(stated, "\"rwtexture2d\"")).format, "rgba8");
    EXPECT_EQ(texture_in(texture_plan(stated, kind_with("rwtexture2d", "rgba16_snorm"))).format,
              "rgba16_snorm");
    Type read = texture_of("float");
    read.texture.format = "r8";
    EXPECT_EQ(texture_in(texture_plan(read, "\"texture2d\"")).format, "") << "any can be read";
    EXPECT_EQ(texture_in(texture_plan(read, kind_with("texture2d", "rgba8_srgb"))).format, "rgba8_srgb");
}

TEST(Textures, OfOtherFormatsAreRefused) {
    struct Case {
        std::string element;
        bool writable;
        std::string format;
        std::string message;
    };
    for (const Case& one : std::vector<Case>{
             {"float4", true, "rg8", "the format 'rg8' has 2 components, which 'float4' doesn't fit"},
             {"float", true, "rgba8", "has 4 components, which 'float' doesn't fit"},
             {"float4", true, "rgba8_srgb", "can't be written"},
             {"float4", true, "rgba8ui", "has texels that are no floats to shaders"},
             {"int", false, "r32ui", "has texels that are no ints to shaders"}}) {
        const std::string kind = one.writable ? "rwtexture2d" : "texture2d";
        const Outcome<Plan> plan =
            texture_plan(texture_of(one.element, one.writable), kind_with(kind, one.format));
        EXPECT_THAT(ids(plan), ElementsAre("texture-format"));
        EXPECT_THAT(plan.errors().front().message, HasSubstr("argument 't': "));
        EXPECT_THAT(plan.errors().front().message, HasSubstr(one.message));
    }
    Type stated = texture_of("float4", true);
    stated.texture.format = "r11f_g11f_b10f";
    const Outcome<Plan> plan = texture_plan(stated, "\"rwtexture2d\"");
    EXPECT_THAT(ids(plan), ElementsAre("texture-format"));
    EXPECT_THAT(plan.errors().front().notes, ElementsAre("use 'rgba16f', and convert in Slang"));
    stated.texture.format.clear();
    stated.texture.is_fraction = true;
    EXPECT_THAT(ids(texture_plan(stated, "\"rwtexture2d\"")), ElementsAre("texture-format"));
}

TEST(Textures, OfOtherTypesAreRefused) {
    Type multisampled = texture_of("float4");
    multisampled.texture.is_multisampled = true;
    EXPECT_THAT(ids(texture_plan(multisampled, "\"texture2d\"")), ElementsAre("type-not-supported"));
    EXPECT_THAT(ids(texture_plan(texture_of("double"), "\"texture2d\"")), ElementsAre("type-not-supported"));
    EXPECT_THAT(ids(texture_plan(texture_of("float4"), "\"value\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(texture_of("float4"), "\"tensor[2]\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(texture_of("float4", true), "\"rwtexture2d\"", Direction::inout)),
                ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(texture_of("float4"), R"({"kind": "texture2d", "map": [0, 1]})")),
                ElementsAre("argument-map"));
}

TEST(Textures, FeedCallsTexelByTexel) {
    const Outcome<Plan> read = texture_plan(type_named("float3"), "\"texture2d_array\"");
    ASSERT_TRUE(read) << read.errors().front().message;
    EXPECT_EQ(planned_call(read).rank, 3);
    EXPECT_EQ(texture_in(read),
              (Texture{Access::read, TextureDimension::two, true, "", "float", false, true}));
    for (const bool is_array : {false, true}) {
        const Outcome<Plan> faces =
            texture_plan(type_named("float4"), is_array ? "\"texturecube_array\"" : "\"texturecube\"");
        ASSERT_TRUE(faces) << faces.errors().front().message;
        EXPECT_EQ(planned_call(faces).rank, 3);
        EXPECT_EQ(texture_in(faces),
                  (Texture{Access::read, TextureDimension::cube, is_array, "", "float", false, true}));
    }
    for (const Direction direction : {Direction::out, Direction::inout}) {
        const Outcome<Plan> written = texture_plan(type_named("half2"), "\"rwtexture3d\"", direction);
        ASSERT_TRUE(written) << written.errors().front().message;
        EXPECT_EQ(planned_call(written).rank, 3);
        EXPECT_EQ(texture_in(written).format, "rg16f");
    }
    EXPECT_THAT(ids(texture_plan(type_named("float3"), "\"rwtexture2d\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(type_named("float3"), "\"texture2d\"", Direction::out)),
                ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(type_named("float2x2"), "\"texture2d\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(type_named("double"), "\"texture2d\"")), ElementsAre("argument-type"));
    const Outcome<Plan> tensor = texture_plan(type_named("DiffTexture2D<float4, 2>"), "\"texture2d\"");
    ASSERT_THAT(ids(tensor), ElementsAre("argument-type"));
    EXPECT_THAT(tensor.errors().front().notes, ElementsAre(HasSubstr("give it tensor[2]; ")));
}

TEST(Textures, MakeNoGradientsOfWhatIsWritten) {
    Function function = function_of("float4", "f", {{"float4", "x"}});
    function.backward_differentiable = true;
    const Outcome<Plan> plan =
        plan_of(R"({"function": "f", "args": {"x": "tensor[2]"}, "result": "rwtexture2d", "backward": true})",
                {function});
    EXPECT_THAT(ids(plan), ElementsAre("texture-gradient"));
}

TEST(Textures, CountSamplersOfTheCall) {
    Type sampler;
    sampler.kind = TypeKind::sampler;
    sampler.name = "SamplerState";
    Type material = struct_of("Material", {{"t", texture_of("float4")}, {"s", sampler}, {"u", sampler}});
    const Outcome<Plan> plan =
        texture_plan(material, R"({"fields": {"t": "texture2d", "s": "sampler", "u": "sampler"}})");
    ASSERT_TRUE(plan) << plan.errors().front().message;
    EXPECT_TRUE(std::holds_alternative<Sampler>(planned_call(plan).arguments[1].host.kind));
    EXPECT_THAT(ids(texture_plan(sampler, "\"texture2d\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(texture_of("float4"), "\"sampler\"")), ElementsAre("argument-type"));
    EXPECT_THAT(ids(texture_plan(sampler, "\"sampler\"", Direction::out)), ElementsAre("argument-type"));
    const Outcome<Plan> whole = texture_plan(material, "\"value\"");
    EXPECT_THAT(ids(whole), ElementsAre("struct-layout"));
    EXPECT_THAT(whole.errors().front().notes.front(), HasSubstr("where it has the kind 'texture2d'"));
}

TEST(Textures, InArraysAreElements) {
    Type array;
    array.kind = TypeKind::array;
    array.extent = 3;
    array.element = {texture_of("float", true)};
    array.name = "RWTexture2D<float>[3]";
    const Outcome<Plan> plan = texture_plan(array, kind_with("rwtexture2d", "r8"));
    ASSERT_TRUE(plan) << plan.errors().front().message;
    ASSERT_EQ(planned_call(plan).arguments.size(), 5U);
    EXPECT_EQ(planned_call(plan).arguments[2].host.name, "t[2]");
    EXPECT_EQ(std::get<Texture>(planned_call(plan).arguments[2].host.kind).format, "r8");
}

}  // namespace
}  // namespace kf::gen
