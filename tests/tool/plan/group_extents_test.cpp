// Group sizes that are products of numbers and constants.
#include "plan/group_extents.h"

#include <gmock/gmock.h>

#include "core/choose_constants.h"
#include "tool/plan/fixture.h"

namespace kf::gen {
namespace {

using test::type_named;
using testing::ElementsAre;

/// N and ns.M are chosen at run time, F is fixed, and D has what its declaration says.
LinkTime linked() {
    LinkTime link;
    link.constants = {{"F", type_named("int"), "3"},
                      {"N", type_named("int"), "8", {"8", "16"}},
                      {"ns.M", type_named("uint"), "2", {"2"}},
                      {"zero", type_named("int"), "0"},
                      {"light", type_named("float"), "0.5"}};
    link.defaults = {{"D", "5"}};
    return link;
}

TEST(GroupExtents, AreProducts) {
    const LinkTime link = linked();
    const auto extents = group_extents({"N*2", "(F*D)", "4u"}, "run", link);
    ASSERT_TRUE(extents);
    EXPECT_THAT(*extents, ElementsAre(manifest::GroupExtent{2, {0}}, manifest::GroupExtent{15, {}},
                                      manifest::GroupExtent{4, {}}));
    EXPECT_THAT(detail::group_size_with(*extents, link.default_values()), ElementsAre(16, 15, 4));
    EXPECT_THAT(detail::group_size_with(*extents, {"16", "2"}), ElementsAre(32, 15, 4));
    EXPECT_TRUE(is_chosen(*extents));
}

TEST(GroupExtents, FindNamesFromInsideOut) {
    const auto extents = group_extents({"M*N"}, "ns.inner.run", linked());
    ASSERT_TRUE(extents);
    EXPECT_THAT(*extents, ElementsAre(manifest::GroupExtent{1, {1, 0}}, manifest::GroupExtent{},
                                      manifest::GroupExtent{}));
    EXPECT_TRUE(group_extents({"ns::M"}, "run", linked()));
    EXPECT_FALSE(group_extents({"M"}, "run", linked())) << "of another namespace";
}

TEST(GroupExtents, AreNothingElse) {
    for (const char* text : {"N+1", "N/2", "unknown", "zero", "light", "", "N*", "0"})
        EXPECT_FALSE(group_extents({text, "1", "1"}, "run", linked())) << text;
    EXPECT_FALSE(group_extents({}, "run", linked()));
    const auto fixed = group_extents({"F"}, "run", linked());
    ASSERT_TRUE(fixed);
    EXPECT_FALSE(is_chosen(*fixed));
}

TEST(GroupExtents, DontOverflow) {
    const auto extents = group_extents({"N*N"}, "run", linked());
    ASSERT_TRUE(extents);
    EXPECT_GT(detail::group_size_with(*extents, {"9223372036854775807", "1"})[0], 1024);
    EXPECT_GT(detail::group_size_with(*extents, {"18446744073709551615", "1"})[0], 1024);
    EXPECT_EQ(detail::group_size_with(*extents, {"-3", "1"})[0], 0);
}

}  // namespace
}  // namespace kf::gen
