// Outputs that would be written over inputs or each other.
#include "output/conflicts.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(Conflicts, AreFoundHoweverPathsAreSpelled) {
    for (const char* path : {"specs/a.slang", "./specs/a.slang", "specs/../specs//a.slang"}) {
        const Diagnostics errors =
            output_conflicts({{"out/a.h", "an output"}, {path, "--stamp"}}, {"specs/a.slang"});
        ASSERT_EQ(errors.size(), 1U) << path;
        EXPECT_EQ(errors.front().id, "output-conflict");
        EXPECT_EQ(errors.front().message, "--stamp would overwrite this file, which is read to generate it");
    }
}

TEST(Conflicts, AreFoundBetweenOutputs) {
    const Diagnostics errors = output_conflicts({{"out/a.h", "an output"}, {"out/./a.h", "--depfile"}}, {});
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().message, "--depfile would overwrite this file, which is also an output");
    EXPECT_TRUE(output_conflicts({{"out/a.h", "an output"}, {"out/a.d", "--depfile"}}, {"a.h"}).empty());
}

}  // namespace
}  // namespace kf::gen
