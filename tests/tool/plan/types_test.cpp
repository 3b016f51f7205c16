// Tests the sizes, names and properties of planned types.
#include "plan/types.h"

#include <gmock/gmock.h>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

TEST(TypesTest, EverySpellingNamesTheElementThatSpellsItself) {
    const std::vector<std::string> names = element_names();
    EXPECT_EQ(names.size(), 48u);
    for (const std::string& name : names) {
        const auto element = parse_element(name);
        ASSERT_TRUE(element) << name;
        EXPECT_EQ(slang_name(*element), name);
        EXPECT_EQ(element_of(test::type_named(name)), element) << name;
    }
}

TEST(TypesTest, SlangsOtherSpellingsAreKnown) {
    EXPECT_EQ(slang_name(*parse_element("int32_t")), "int");
    EXPECT_EQ(slang_name(*parse_element("float16_t3")), "half3");
    EXPECT_EQ(slang_name(*parse_element("uint32_t2")), "uint2");
}

TEST(TypesTest, MatricesAndArraysSpellThemselves) {
    for (const char* name :
         {"float2x3", "half4x4", "uint3x2", "float[4]", "float2[3]", "int[2][3]", "double2x2[5]"}) {
        const Type type = test::type_named(name);
        EXPECT_EQ(kind_name(type), name);
        ASSERT_TRUE(element_of(type)) << name;
        EXPECT_EQ(element_of(type), parse_element(name)) << name;
    }
    EXPECT_EQ(declared_name(test::type_named("float2[3]")), "Array<float2, 3>");
    EXPECT_EQ(declared_name(test::type_named("int[2][3]")), "Array<Array<int, 3>, 2>");
    EXPECT_EQ(parse_element("float2x3[4]")->extents, (std::vector<std::int64_t>{4, 2, 3}));
}

TEST(TypesTest, ElementsAreSpelledAsTheyAreRead) {
    for (const char* name :
         {"half4x4", "float[5]", "bool[1]", "int[2][3][4]", "float[2][5]", "float[2][1][2][3]"})
        EXPECT_EQ(slang_name(*parse_element(name)), name);
    EXPECT_EQ(slang_name(*parse_element("float2x3[4]")), "float[4][2][3]");
    EXPECT_EQ(slang_name(*parse_element("int[2][3]")), "int2x3");
}

TEST(TypesTest, MatricesOfOtherIntegersHaveNoElement) {
    for (const char* scalar : {"int8_t", "int16_t", "int64_t", "uint8_t", "uint16_t", "uint64_t"}) {
        EXPECT_FALSE(element_of(test::type_named(std::string(scalar) + "2x3"))) << scalar;
        EXPECT_FALSE(element_of(test::type_named(std::string(scalar) + "2x3[4]"))) << scalar;
        EXPECT_TRUE(element_of(test::type_named(std::string(scalar) + "3[2]"))) << scalar;
    }
    for (const char* name : {"bool2x3", "int2x3", "uint2x3", "half2x3", "float2x3", "double2x3"})
        EXPECT_TRUE(element_of(test::type_named(name))) << name;
}

TEST(TypesTest, OtherWordsAreNoElements) {
    for (const char* name : {"", "float0", "float5", "float33", "2", "Ray", "void", "int8", "float2x5",
                             "float1x2", "float[0]", "float[x]", "float[2", "float[2][2][2][2][2]"}) {
        EXPECT_FALSE(parse_element(name)) << name;
    }
}

TEST(TypesTest, StorageSizesAreThoseOfTensors) {
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::boolean), 1);
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::int8), 1);
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::uint16), 2);
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::float16), 2);
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::float32), 4);
    EXPECT_EQ(manifest::scalar_bytes(ScalarType::int64), 8);
    EXPECT_EQ(scalar_count({}), 1);
    EXPECT_EQ(scalar_count({2, 3}), 6);
}

}  // namespace
}  // namespace kf::gen
