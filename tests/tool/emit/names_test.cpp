// Identifiers that a language would refuse or that generated code needs itself.
#include "emit/names.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace kf::gen {
namespace {

TEST(Names, LeavesPlainNamesAlone) {
    EXPECT_EQ(cpp_identifier("albedo"), "albedo");
    EXPECT_EQ(python_identifier("albedo"), "albedo");
}

TEST(Names, AppendsToWordsOfCpp) {
    for (const char* word : {"class", "delete", "co_await", "encoder", "result", "args", "errno", "NULL",
                             "INT_MAX", "PATH_MAX", "UINT8_C", "typeof", "__linux__"})
        EXPECT_EQ(cpp_identifier(word), std::string(word) + "_");
    EXPECT_EQ(cpp_identifier("lambda"), "lambda");
}

TEST(Names, AppendsToWordsOfPython) {
    for (const char* word : {"class", "lambda", "None", "__all__", "__file__"})
        EXPECT_EQ(python_identifier(word), std::string(word) + "_");
    for (const char* word : {"delete", "out", "shape"}) EXPECT_EQ(python_identifier(word), word);
}

TEST(Names, ReplacesWhatIdentifiersCannotHold) {
    EXPECT_EQ(cpp_identifier("Type.method<3>"), "Type_method_3");
    EXPECT_EQ(cpp_identifier("Pair<vector<float, 3>, ns.Box<int, 2>>"), "Pair_float3_ns_Box_int_2");
    EXPECT_EQ(python_identifier("Box<float, 3>.area"), "Box_float_3_area");
    EXPECT_EQ(cpp_identifier("my__name_"), "my__name_");
    EXPECT_EQ(cpp_identifier("3d"), "_3d");
}

TEST(Names, MakesPascalCase) {
    EXPECT_EQ(pascal_case("grid_sample2"), "GridSample2");
    EXPECT_EQ(pascal_case("sampleGrid"), "SampleGrid");
}

TEST(Names, KeepsClaimedNamesApart) {
    UniqueNames names({"taken"});
    EXPECT_EQ(names.claim("taken"), "taken_");
    EXPECT_EQ(names.claim("free"), "free");
    EXPECT_EQ(names.claim("free"), "free_");
    EXPECT_EQ(names.claim("free"), "free__");
}

TEST(Names, LetsNamesStayThatAreAsInSlang) {
    UniqueNames names;
    EXPECT_EQ(claim_names(names, {"int", "int_", "x", "int__"}, cpp_identifier),
              (std::vector<std::string>{"int___", "int_", "x", "int__"}));
}

TEST(Names, KeepsNamesApartFromWhatIsMadeOfOthers) {
    constexpr std::array<std::string_view, 2> endings{"Backward", "Result"};
    UniqueNames names;
    EXPECT_EQ(names.claim_with("_Foo", endings), "_Foo");
    EXPECT_EQ(names.claim_with("_FooBackward", endings), "_FooBackward_");
    EXPECT_EQ(names.claim("_FooBackward_Result"), "_FooBackward_Result_");
    EXPECT_EQ(names.claim("_BarResult"), "_BarResult");
    EXPECT_EQ(names.claim_with("_Bar", endings), "_Bar_");
}

}  // namespace
}  // namespace kf::gen
