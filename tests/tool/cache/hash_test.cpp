// One hash of several parts, for keys.
#include "cache/hash.h"

#include <gtest/gtest.h>

namespace kf::gen {
namespace {

TEST(HashParts, TellsPartsApart) {
    EXPECT_EQ(hash_parts({"ab", "c"}), hash_parts({"ab", "c"}));
    EXPECT_NE(hash_parts({"ab", "c"}), hash_parts({"a", "bc"}));
    EXPECT_NE(hash_parts({"a"}), hash_parts({"a", ""}));
    EXPECT_NE(hash_parts({"1:a"}), hash_parts({"a"}));
    // printf '3:abc' | sha256sum
    EXPECT_EQ(hash_parts({"abc"}), "aab5f9ae99b2e38fb462025c8f72f570c9c811705d2a4277dc855d7fa293fe97");
}

}  // namespace
}  // namespace kf::gen
