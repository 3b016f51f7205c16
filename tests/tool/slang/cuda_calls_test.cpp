// Functions that are called instead of copied, in CUDA code.
#include "slang/cuda_calls.h"

#include <gmock/gmock.h>

#include <string>

namespace kf::gen {
namespace {

using testing::HasSubstr;

/// A kernel that adds `inner` times in each of `outer` calls of a function.
std::string code_with(int outer, int inner) {
    std::string code =
        "__device__ void AtomicTensor_add_0(AtomicTensor_0 * this_0, float value_0);\n"
        "__device__ void AtomicTensor_add_0(AtomicTensor_0 * this_0, float value_0)\n{\n    x;\n}\n\n"
        "struct S\n{\n    int a;\n};\n\n"
        "__device__ void AtomicTensor_add_once_0(AtomicTensor_0 * this_0, float value_0)\n{\n    x;\n}\n\n"
        "__device__ void row_0(T * t)\n{\n";
    for (int i = 0; i < inner; ++i) code += "    AtomicTensor_add_0(&t->sum, 1.0f);\n";
    code +=
        "    not_AtomicTensor_add_0(1.0f);\n}\n\nextern \"C\" __global__ void kernel(kf_Block_0 "
        "kf_args_0)\n{\n";
    for (int i = 0; i < outer; ++i) code += "    row_0(&t);\n";
    return code + "    AtomicTensor_add_once_0(&t->sum, 1.0f);\n}\n";
}

TEST(CalledSums, AreThoseWithManyCopies) {
    const std::string few = code_with(4, 4);
    EXPECT_EQ(call_sums(few), few);
    for (const std::string& many : {code_with(17, 1), code_with(1, 17), code_with(5, 4)}) {
        std::string expected = many;
        const std::size_t definition = expected.find("__device__", 10);
        expected.insert(definition, "__noinline__ ");
        EXPECT_EQ(call_sums(many), expected);
    }
}

TEST(CalledSums, ManyCopiesOfCopiesAreCounted) {
    std::string code = code_with(1, 1);
    std::string chain;
    std::string last = "row_0";
    for (int i = 0; i < 80; ++i) {
        const std::string next = "level_" + std::to_string(i);
        chain += "__device__ void " + next + "(T * t)\n{\n    " + last + "(t);\n    " + last + "(t);\n}\n\n";
        last = next;
    }
    const std::size_t kernel = code.find("extern");
    code.insert(code.find("    row_0(&t);", kernel), "    " + last + "(&t);\n");
    code.insert(kernel, chain);
    EXPECT_THAT(call_sums(code), HasSubstr("\n__noinline__ __device__ void AtomicTensor_add_0"));
}

TEST(CalledSums, CodeWithoutThemStays) {
    EXPECT_EQ(call_sums(""), "");
    EXPECT_EQ(call_sums("__device__ void f_0()\n{\n    f_0();\n}\n"),
              "__device__ void f_0()\n{\n    f_0();\n}\n");
    const std::string alone = "__device__ void AtomicTensor_add_0()\n{\n    AtomicTensor_add_0();\n}\n";
    EXPECT_EQ(call_sums(alone), alone);
}

}  // namespace
}  // namespace kf::gen
