// Specialization constants: the texts that declare some, and what Slang is given in their place.
#include "slang/specialization_constants.h"

#include <gmock/gmock.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;

constexpr std::string_view declarations =
    "[SpecializationConstant] const int N = 4;\n"
    "[[vk::constant_id(3)]] [vk::constant_id(3)] const float gain = 0.5;\n"
    "namespace ns { layout(constant_id = 7) const uint M = 1; }\n"
    "// [SpecializationConstant] const int no = 1;\n";

TEST(SpecializationConstants, AreFoundByEachSpelling) {
    EXPECT_THAT(specialization_constants(declarations),
                ElementsAre(SpecializationPlace{"N", 1}, SpecializationPlace{"gain", 2},
                            SpecializationPlace{"M", 3}));
    EXPECT_TRUE(specialization_constants("extern static const int N = 4;").empty());
}

TEST(SpecializationConstants, BecomeLinkTimeConstants) {
    EXPECT_EQ(with_link_constants(declarations),
              "extern static            const int N = 4;\n"
              "extern static                               const float gain = 0.5;\n"
              "namespace ns { extern static           const uint M = 1; }\n"
              "// [SpecializationConstant] const int no = 1;\n");
}

TEST(SpecializationConstants, StayWhereTheyAreKept) {
    const std::vector<KeptConstant> kept{{"N", "/a.slang", 1, 0}, {"ns.M", "/a.slang", 3, 12}};
    EXPECT_EQ(with_link_constants(declarations, "/a.slang", kept),
              "[vk::constant_id(50000)] const int N = 4;\n"
              "extern static                               const float gain = 0.5;\n"
              "namespace ns { [vk::constant_id(50012)] const uint M = 1; }\n"
              "// [SpecializationConstant] const int no = 1;\n");
    EXPECT_EQ(with_link_constants(declarations, "/b.slang", kept), with_link_constants(declarations))
        << "of another file";
    const std::string short_marker = "[vk::constant_id(1)] const int N = 4; int f() { return N; }\n";
    EXPECT_EQ(with_link_constants(short_marker, "/a.slang", kept),
              "[vk::constant_id(50000)] const int N = 4; int f() { return N; }\n");
    const std::string two = "[SpecializationConstant] const int N = max(1, 2), other = 7;\n";
    EXPECT_EQ(with_link_constants(two, "/a.slang", kept), two) << "both would have the number";
}

}  // namespace
}  // namespace kf::gen
