// Integers of 8 and 16 bits in CUDA code, and what Slang's prelude gets wrong.
#include "slang/cuda_integers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slang/compiler.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct IntegerCase {
    const char* code;
    const char* expected;
};

class SmallIntegers : public testing::TestWithParam<IntegerCase> {};

TEST_P(SmallIntegers, AreWrapped) { EXPECT_EQ(wrap_small_integers(GetParam().code), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    All, SmallIntegers,
    testing::Values(
        IntegerCase{"unsigned short own = (signed char)b; short c;",
                    "unsigned short own = (signed char)b; kf_short c;"},
        IntegerCase{"longlong f_0(char a_0, uchar b_0)", "longlong f_0(kf_char a_0, kf_uchar b_0)"},
        IntegerCase{"ushort c_0 = ushort(a_0) * uint16_t(3);",
                    "kf_ushort c_0 = kf_ushort(a_0) * kf_ushort(3);"},
        IntegerCase{"short2 v_0; int(v_0.x * w_0.y);", "short2 v_0; int(kf_part(v_0.x) * kf_part(w_0.y));"},
        IntegerCase{"char3 v_0; *&((&v_0)->x) = a_0;", "char3 v_0; *&(kf_part((&v_0)->x)) = a_0;"},
        IntegerCase{"char3 v_0; f(g_0(v_0, b[1])[2].x);", "char3 v_0; f(kf_part(g_0(v_0, b[1])[2].x));"},
        IntegerCase{"char3 v_0; slang_bit_cast<short2>(v_0).y;",
                    "char3 v_0; kf_part(slang_bit_cast<short2>(v_0).y);"},
        IntegerCase{"uchar4 v_0; _slang_vector_get_element(v_0, i_0)", "uchar4 v_0; kf_element(v_0, i_0)"},
        IntegerCase{"char3 v_0; threadIdx.x + blockIdx.y", "char3 v_0; threadIdx.x + blockIdx.y"},
        // Fields, larger types and the rows of matrices stay.
        IntegerCase{"char3 v_0; s_0.x_0 + s_0.xy", "char3 v_0; s_0.x_0 + s_0.xy"},
        IntegerCase{"makeMatrix<char, 2, 3>(v_0, w_0)", "makeMatrix<char, 2, 3>(v_0, w_0)"},
        IntegerCase{"int2 v_0; v_0.x * v_0.y", "int2 v_0; v_0.x * v_0.y"},
        IntegerCase{"uint my_char = chars(0);", "uint my_char = chars(0);"}, IntegerCase{"", ""}));

TEST(Precise, KeepsAValueApart) {
    EXPECT_EQ(settle_precise("    precise float s_0 = a_0 + b_0;\n    precise float e_0 = s_0 - a_0;\n"),
              "    float s_0 = a_0 + b_0;\n    float e_0 = s_0 - a_0;\n" + std::string(cuda_exact));
    EXPECT_EQ(settle_precise("imprecise float;"), "imprecise float;");
}

TEST(CudaPrelude, RoundsHalvesToEvenNumbers) {
    EXPECT_THAT(complete_numbers("float F32_round(float f)\n{\n    return ::roundf(f);\n}\n"),
                HasSubstr("return ::rintf(f);"));
}

TEST(CudaPrelude, ComparesLongNumbersWithoutASign) {
    EXPECT_THAT(complete_numbers("CALL int64_t U64_min(uint64_t a, uint64_t b)"),
                StartsWith("CALL uint64_t U64_min(uint64_t a, uint64_t b)"));
    EXPECT_THAT(complete_numbers("CALL uint64_t U64_min(uint64_t a, uint64_t b)"),
                StartsWith("CALL uint64_t U64_min(uint64_t a, uint64_t b)"));
}

TEST(CudaPrelude, HasFunctionsOnce) {
    EXPECT_THAT(complete_numbers(""), HasSubstr("kf_short I16_min(kf_short a, kf_short b)"));
    EXPECT_THAT(complete_numbers("int8_t I8_min(int8_t a, int8_t b);"), Not(HasSubstr("kf_char I8_min(")));
}

}  // namespace
}  // namespace kf::gen
