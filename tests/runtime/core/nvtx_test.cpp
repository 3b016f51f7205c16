// Ranges of NVTX, with a tool of the tests' own.
#include "core/nvtx.h"

#include <gtest/gtest.h>

namespace {

using kf::detail::Nvtx;
using kf::detail::NvtxRange;

TEST(Nvtx, ShowsRangesToATool) {
    testing::internal::CaptureStdout();
    const auto nvtx = Nvtx::load(KF_NVTX_TOOL);
    ASSERT_NE(nvtx, nullptr);
    {
        const NvtxRange outer(nvtx.get(), "outer");
        const NvtxRange inner(nvtx.get(), "inner");
    }
    const NvtxRange none(nullptr, "none");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "push outer\n  push inner\n  pop\npop\n");
}

TEST(Nvtx, DoesWithoutATool) {
    EXPECT_EQ(Nvtx::load("libthere-is-no-such-tool.so"), nullptr);
    EXPECT_EQ(Nvtx::load("libm.so.6"), nullptr);  // a library, and no tool
    EXPECT_EQ(Nvtx::of_process(), nullptr);
}

}  // namespace
