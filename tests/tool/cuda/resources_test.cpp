// What ptxas says of kernels, in words that NVRTC's releases have.
#include "cuda/resources.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

/// NVRTC 13's log of a kernel that calls a function of its own.
constexpr const char* log_of_two =
    "ptxas info    : 11 bytes gmem\n"
    "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
    "ptxas info    : Function properties for f\n"
    "    256 bytes stack frame, 108 bytes spill stores, 76 bytes spill loads\n"
    "ptxas info    : Used 80 registers, used 1 barriers, 256 bytes cumulative stack size, 1056 bytes smem, "
    "404 bytes cmem[0]\n"
    "ptxas info    : Compile time = 12.345 ms\n"
    "ptxas info    : Compiling entry function 'ff' for 'sm_90'\n"
    "ptxas info    : Function properties for ff\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n";

TEST(Resources, AreReadFromTheLogOfThatEntryPoint) {
    EXPECT_EQ(resources_of("f", log_of_two), (KernelResources{80, 256, 108, 76, 1056}));
    EXPECT_EQ(resources_of("ff", log_of_two), (KernelResources{8, 0, 0, 0, 0}));
}

TEST(Resources, AreUnknownWhereTheLogDoesNotTell) {
    EXPECT_EQ(resources_of("g", log_of_two), std::nullopt);
    EXPECT_EQ(resources_of("f", ""), std::nullopt);
}

TEST(Spills, MeansThatMuchIsKeptInMemory) {
    const auto said = [](int bytes) {
        return "ptxas info    : Compiling entry function 'g' for 'sm_90'\nptxas info    : "
               "Function properties for g\nptxas         .     400 bytes stack frame, " +
               std::to_string(bytes) +
               " bytes spill stores, 500 bytes spill loads\nptxas info    : Used 80 registers\n";
    };
    EXPECT_TRUE(spills("g", said(100)));
    EXPECT_FALSE(spills("g", said(16)));
    EXPECT_FALSE(spills("f", said(100)));
    EXPECT_FALSE(spills("g", ""));
}

}  // namespace
}  // namespace kf::gen
