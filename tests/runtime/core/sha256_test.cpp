// SHA-256 against the standard's examples.
#include "core/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/sha256_blocks.h"

namespace kf {
namespace {

TEST(Sha256, MatchesTheStandardsExamples) {
    EXPECT_EQ(hex_digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex_digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex_digest(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PadsAtEveryLengthAroundABlock) {
    EXPECT_EQ(hex_digest(std::string(55, 'a')),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(hex_digest(std::string(56, 'a')),
              "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(hex_digest(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Sha256, IsTheSameByTheProcessorsInstructions) {
    const detail::AddBlocks quick = detail::chosen_add_blocks();
    std::vector<std::byte> bytes(1 + 64 * 9);
    std::uint32_t random = 1;
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>((random = random * 1664525 + 1013904223) >> 24U);
    for (std::size_t count = 0; count <= 9; ++count) {
        detail::Sha256State one{1, 2, 3, 4, 5, 6, 7, 0xffffffff};
        detail::Sha256State other = one;
        detail::add_blocks_portably(one, bytes.data() + 1, count);
        quick(other, bytes.data() + 1, count);
        EXPECT_EQ(one, other) << count;
    }
}

}  // namespace
}  // namespace kf
