// Numbers and structs as C++ and Python write them.
#include "emit/field_defaults.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

struct NumberRow {
    ScalarType scalar;
    std::uint64_t bits;
    const char* cpp;
    const char* python;
};

TEST(FieldDefaultsTest, WritesNumbers) {
    const std::vector<NumberRow> rows{
        {ScalarType::boolean, 1, "true", "True"},
        {ScalarType::boolean, 0, "false", "False"},
        {ScalarType::int8, 0xFFFFFF80, "-128", "-128"},
        {ScalarType::uint8, 0xFF, "255u", "255"},
        {ScalarType::int32, 0xFFFFFFFF, "-1", "-1"},
        {ScalarType::uint32, 0xFFFFFFFF, "4294967295u", "4294967295"},
        {ScalarType::int64, 1ULL << 63U, "-9223372036854775807 - 1", "-9223372036854775808"},
        {ScalarType::uint64, ~0ULL, "18446744073709551615u", "18446744073709551615"},
        {ScalarType::float16, 0x3800, "0.5f", "0.5"},
        {ScalarType::float32, 0x3F666666, "0.9f", "0.9"},
        {ScalarType::float32, 0x40000000, "2.0f", "2.0"},
        {ScalarType::float32, 0x7F800000, "std::bit_cast<float>(std::uint32_t{2139095040})",
         "float(\"inf\")"},
        {ScalarType::float32, 0x80000000, "-0.0f", "-0.0"},
        {ScalarType::float64, 0x01A56E1FC2F8F359, "1e-300", "1e-300"},
        {ScalarType::float64, 0xFFF0000000000000,
         "std::bit_cast<double>(std::uint64_t{18442240474082181120})", "float(\"-inf\")"},
        {ScalarType::float64, 0x7FF8000000000000, "std::bit_cast<double>(std::uint64_t{9221120237041090560})",
         "float(\"nan\")"},
    };
    for (const NumberRow& row : rows) {
        EXPECT_EQ(cpp_number(row.scalar, row.bits), row.cpp);
        EXPECT_EQ(python_number(row.scalar, row.bits), row.python);
    }
}

TEST(FieldDefaultsTest, WritesWhatNumbersAreIn) {
    const Type inner =
        test::struct_of("Inner", {{"scale", test::type_named("float2")}, {"n", test::type_named("int")}});
    const Type outer =
        test::struct_of("Outer", {{"turn", test::type_named("float2x2")}, {"all", test::array_of(inner, 2)}});
    const std::uint64_t one = 0x3F800000;
    const std::vector<std::uint64_t> numbers{one, 0, 0, one, one, one, 3, 0, 0, 4};
    ASSERT_EQ(number_count(outer), numbers.size());
    EXPECT_EQ(cpp_initialiser(outer, numbers),
              "{{{1.0f, 0.0f}, {0.0f, 1.0f}}}, {{{{1.0f, 1.0f}, 3}, {{0.0f, 0.0f}, 4}}}");
    EXPECT_EQ(python_literal(outer, numbers, [](const Type& type) { return type.name; }),
              "Outer([[1.0, 0.0], [0.0, 1.0]], [Inner([1.0, 1.0], 3), Inner([0.0, 0.0], 4)])");
    EXPECT_EQ(number_count(test::type_named("float[257]")), std::nullopt);
    EXPECT_EQ(number_count(test::type_named("Tensor<float, 1>")), std::nullopt);
}

}  // namespace
}  // namespace kf::gen
