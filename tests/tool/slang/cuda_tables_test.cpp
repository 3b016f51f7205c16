// Tables of constants that CUDA code shares among threads.
#include "slang/cuda_tables.h"

#include <gmock/gmock.h>

#include <string>

namespace kf::gen {
namespace {

using testing::HasSubstr;

constexpr const char* declared =
    "struct Entry_0\n{\n    float a_0;\n    float3  c_0;\n};\n\n"
    "__device__ Entry_0 Entry_x24init_0(float a_1, float3  c_1)\n{\n    Entry_0 _S1;\n"
    "    (&_S1)->a_0 = a_1;\n    (&_S1)->c_0 = c_1;\n    return _S1;\n}\n\n"
    "struct Row_0\n{\n    FixedArray<float, 2>  w_0;\n};\n\n"
    "__device__ static const FixedArray<float, 2>  _S2 = {\n    1.0f, 2.0e-05f\n};\n\n"
    "__device__ Row_0 Row_x24init_0(FixedArray<float, 2>  * w_1)\n{\n    Row_0 _S3;\n"
    "    (&_S3)->w_0 = *w_1;\n    return _S3;\n}\n\n";

/// A function with these statements, behind the declared.
std::string function_with(const std::string& statements) {
    return std::string(declared) + "__device__ float f_0(int i_0, float x_0)\n{\n" + statements + "}\n";
}

/// Writes a list of that many elements, with its braces.
std::string list(const std::string& element, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + element;
    return "{" + all + "}";
}

TEST(SharedTables, HaveStructs) {
    const std::string made = "Entry_x24init_0(-1.5f, make_float3 (1.0f, 2.0f, 3.0f))";
    const std::string use = "    return t_0[i_0].a_0 <= t_0[i_0].c_0.x;\n";
    const std::string constant = "Entry_0 {-1.5f, float3 {1.0f, 2.0f, 3.0f}}";
    EXPECT_EQ(
        share_tables(function_with("    FixedArray<Entry_0, 5>  t_0 = " + list(made, 5) + ";\n" + use)),
        function_with("    static const FixedArray<Entry_0, 5>  t_0 = " + list(constant, 5) + ";\n" + use));
}

TEST(SharedTables, HaveArraysInStructs) {
    const std::string before =
        "    FixedArray<float, 2>  _S4 = _S2;\n    Row_0 _S5 = Row_x24init_0(&_S4);\n    Row_0 _S6 = _S5;\n"
        "    FixedArray<Row_0, 9>  t_0 = ";
    EXPECT_THAT(share_tables(function_with(before + list("_S6", 9) + ";\n    return t_0[i_0].w_0[0];\n")),
                HasSubstr("static const FixedArray<Row_0, 9>  t_0 = " +
                          list("Row_0 {FixedArray<float, 2> {1.0f, 2.0e-05f}}", 9) + ";\n"));
}

struct KeptCase {
    const char* name;
    std::string statements;
};

class KeptTables : public testing::TestWithParam<KeptCase> {};

TEST_P(KeptTables, StayAsTheyAre) {
    const std::string code = function_with(GetParam().statements);
    EXPECT_EQ(share_tables(code), code);
}

std::string table(const std::string& element, int count, const std::string& use) {
    return "    FixedArray<float, 20>  t_0 = " + list(element, count) + ";\n    " + use + "\n";
}

INSTANTIATE_TEST_SUITE_P(
    All, KeptTables,
    testing::Values(KeptCase{"Small", table("1.0f", 16, "return t_0[i_0];")},
                    KeptCase{"OfVariables", table("x_0", 20, "return t_0[i_0];")},
                    KeptCase{"OfCalls", table("sin(1.0f)", 20, "return t_0[i_0];")},
                    KeptCase{"OfSplats", table("make_float3 (1.0f)", 20, "return t_0[i_0].x;")},
                    KeptCase{"Assigned", table("1.0f", 20, "t_0[i_0] = x_0; return t_0[i_0];")},
                    KeptCase{"AssignedInPart", table("1.0f", 20, "t_0[i_0].x = x_0; return t_0[i_0].x;")},
                    KeptCase{"Added", table("1.0f", 20, "t_0[i_0] += x_0; return t_0[i_0];")},
                    KeptCase{"Counted", table("1.0f", 20, "t_0[i_0]++; return t_0[i_0];")},
                    KeptCase{"Shifted", table("1", 20, "t_0[i_0] <<= 1; return t_0[i_0];")},
                    KeptCase{"ByAddress", table("1.0f", 20, "*(&t_0[i_0]) = x_0; return t_0[i_0];")},
                    KeptCase{"ByAddressAsAWhole", table("1.0f", 20, "g_0(&t_0); return t_0[i_0];")},
                    KeptCase{"InBrackets", table("1.0f", 20, "*(&(t_0)[i_0]) = x_0; return t_0[i_0];")},
                    KeptCase{"AsAWhole", table("1.0f", 20, "return h_0(t_0);")},
                    KeptCase{"NoTable", "    return x_0;\n"}),
    [](const testing::TestParamInfo<KeptCase>& one) { return one.param.name; });

TEST(SharedTables, NeedConstructorsThatOnlyGive) {
    std::string code = function_with("    FixedArray<Entry_0, 5>  t_0 = " +
                                     list("Entry_x24init_0(1.0f, make_float3 (1.0f, 2.0f, 3.0f))", 5) +
                                     ";\n    return t_0[i_0].a_0;\n");
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"a_0 = a_1", "a_0 = a_1 * 2.0f"},
          {"c_0 = c_1;\n    return", "c_0 = c_1;\n    (&_S1)->a_0 = 1.0f;\n    return"},
          {"Entry_x24init_0(float a_1, float3  c_1)", "Entry_x24init_0(float3  c_1, float a_1)"}}) {
        std::string other = code;
        other.replace(other.find(from), from.size(), to);
        EXPECT_EQ(share_tables(other), other) << to;
    }
}

}  // namespace
}  // namespace kf::gen
