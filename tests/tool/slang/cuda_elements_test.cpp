// Assignments to elements in CUDA code.
#include "slang/cuda_elements.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

struct ElementCase {
    const char* code;
    const char* expected;
};

class StoredElements : public testing::TestWithParam<ElementCase> {};

TEST_P(StoredElements, AreNamed) { EXPECT_EQ(name_stored_elements(GetParam().code), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    All, StoredElements,
    testing::Values(ElementCase{"    *(&(b_0)[i_0]) = p_0;\n", "    kf_store(*(&(b_0)[i_0]), p_0);\n"},
                    ElementCase{"*(&(f(a = b).of)[g(1, 2)]) = h(x, y);",
                                "kf_store(*(&(f(a = b).of)[g(1, 2)]), h(x, y));"},
                    ElementCase{"a_0[int(0)] = 1.0f;", "kf_store(a_0[int(0)], 1.0f);"},
                    // Parts of elements, variables, comparisons and declarations stay.
                    ElementCase{"(&(b_0)[i_0])->x_0 = 1.0f;", "(&(b_0)[i_0])->x_0 = 1.0f;"},
                    ElementCase{"*p_0 = q_0;", "*p_0 = q_0;"},
                    ElementCase{"float4  a_0 = b_0[i_0];", "float4  a_0 = b_0[i_0];"},
                    ElementCase{"if((a_0[i_0]) == b_0)", "if((a_0[i_0]) == b_0)"},
                    ElementCase{"FixedArray<float, 2>  a_0 = {", "FixedArray<float, 2>  a_0 = {"},
                    ElementCase{"a_0[i_0] = { 1, 2 };", "a_0[i_0] = { 1, 2 };"},
                    // So does what modules' own CUDA code writes in other ways.
                    ElementCase{"a[i] = b; c[i] = d;", "a[i] = b; c[i] = d;"},
                    ElementCase{"a[i] = b;  // of a;", "a[i] = b;  // of a;"},
                    ElementCase{"a[i] = b;  /* of a */;", "a[i] = b;  /* of a */;"},
                    ElementCase{"\n\n  x;\n", "\n\n  x;\n"}, ElementCase{"", ""}));

}  // namespace
}  // namespace kf::gen
