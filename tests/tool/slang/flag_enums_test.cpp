// Enums with [Flags], as tokens show them.
#include "slang/flag_enums.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

std::vector<std::string> found(const char* text) {
    std::vector<std::string> names;
    find_flag_enums(text, names);
    return names;
}

TEST(FlagEnums, AreThoseWithTheAttribute) {
    EXPECT_THAT(found("[Flags] enum A { x }  enum B { y }\n[Flags]\npublic enum class C : uint8_t {}"),
                testing::ElementsAre("A", "C"));
    EXPECT_THAT(found("[UnscopedEnum] [Flags] enum A {}"), testing::ElementsAre("A"));
    EXPECT_THAT(found("[Flags][UnscopedEnum] internal enum A {}"), testing::ElementsAre("A"));
    EXPECT_THAT(found("[UnscopedEnum, Flags] enum A {}"), testing::ElementsAre("A"));
    EXPECT_THAT(found("namespace n { struct S { [Flags] enum A {} } }"), testing::ElementsAre("A"));
    EXPECT_THAT(found("// [Flags]\nenum A {} int f(int Flags[2]); enum B {} [UnscopedEnum] enum C {}"),
                testing::ElementsAre());
    EXPECT_THAT(found("enum"), testing::ElementsAre());
    EXPECT_THAT(found("[Flags] enum"), testing::ElementsAre());
    EXPECT_THAT(found("Flags] enum A"), testing::ElementsAre());
}

}  // namespace
}  // namespace kf::gen
