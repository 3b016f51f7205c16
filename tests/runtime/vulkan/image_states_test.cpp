// Tests of how the layouts of mips and layers are followed.
#include "vulkan/image_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Transitions = std::vector<ImageStates::Transition>;

constexpr VkImageLayout resting = VK_IMAGE_LAYOUT_GENERAL;
constexpr VkImageLayout sampled = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
constexpr VkImageLayout copied = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;

Transitions move(ImageStates& states, const ImagePart& part, VkImageLayout layout) {
    Transitions made;
    states.move(part, layout, made);
    return made;
}

TEST(ImageStates, OnlyReadsInOneLayoutCommute) {
    ImageStates states(1, 1, resting);
    const ImagePart all = states.whole();
    EXPECT_FALSE(states.conflicts(all, resting, true, 1));
    states.note(all, false, 1);
    EXPECT_FALSE(states.conflicts(all, resting, false, 1)) << "read after read";
    EXPECT_TRUE(states.conflicts(all, resting, true, 1)) << "write after read";
    EXPECT_TRUE(states.conflicts(all, sampled, false, 1)) << "another layout";
    states.note(all, true, 1);
    states.note(all, false, 1);
    EXPECT_TRUE(states.conflicts(all, resting, false, 1)) << "a later read doesn't undo the write";
    EXPECT_FALSE(states.conflicts(all, resting, true, 2)) << "behind a barrier";
    EXPECT_THAT(move(states, all, sampled), ElementsAre(ImageStates::Transition{resting, all}));
    EXPECT_THAT(move(states, all, sampled), IsEmpty());
    EXPECT_FALSE(states.conflicts(all, sampled, false, 2));
}

TEST(ImageStates, PartsAreApart) {
    ImageStates states(4, 6, resting);
    const ImagePart upper{1, 1, 2, 3};
    EXPECT_THAT(move(states, upper, copied), ElementsAre(ImageStates::Transition{resting, upper}));
    states.note(upper, true, 1);
    EXPECT_TRUE(states.conflicts({0, 4, 0, 6}, copied, true, 1));
    EXPECT_TRUE(states.conflicts({1, 1, 4, 2}, resting, false, 1)) << "a layer of it";
    EXPECT_FALSE(states.conflicts({0, 1, 0, 6}, resting, true, 1)) << "another mip";
    EXPECT_FALSE(states.conflicts({1, 1, 0, 2}, resting, true, 1)) << "other layers of the mip";
    EXPECT_TRUE(states.conflicts({1, 1, 3, 1}, copied, false, 1)) << "written";
    EXPECT_FALSE(states.conflicts({1, 1, 3, 1}, copied, true, 2));
    EXPECT_THAT(move(states, states.whole(), sampled),
                ElementsAre(ImageStates::Transition{resting, {0, 1, 0, 6}},
                            ImageStates::Transition{resting, {1, 1, 0, 2}},
                            ImageStates::Transition{copied, {1, 1, 2, 3}},
                            ImageStates::Transition{resting, {1, 1, 5, 1}},
                            ImageStates::Transition{resting, {2, 2, 0, 6}}));
    EXPECT_FALSE(states.conflicts(states.whole(), sampled, false, 2));
}

TEST(ImageStates, MipsMoveTogetherWhereTheSameLayersDo) {
    ImageStates states(4, 4, resting);
    // Of the second mip other layers are left, of the fourth one more, in the third all have moved.
    for (const ImagePart& part :
         {ImagePart{0, 1, 0, 2}, ImagePart{1, 1, 1, 2}, ImagePart{2, 1, 0, 4}, ImagePart{3, 1, 1, 1}})
        move(states, part, copied);
    EXPECT_THAT(move(states, states.whole(), copied),
                ElementsAre(ImageStates::Transition{resting, {0, 1, 2, 2}},
                            ImageStates::Transition{resting, {1, 1, 0, 1}},
                            ImageStates::Transition{resting, {1, 1, 3, 1}},
                            ImageStates::Transition{resting, {3, 1, 0, 1}},
                            ImageStates::Transition{resting, {3, 1, 2, 2}}));
    states = ImageStates(3, 3, resting);
    for (const ImagePart& part : {ImagePart{0, 1, 0, 1}, ImagePart{1, 1, 0, 2}, ImagePart{2, 1, 0, 2}})
        move(states, part, sampled);
    EXPECT_THAT(move(states, {0, 3, 0, 3}, copied),
                ElementsAre(ImageStates::Transition{sampled, {0, 1, 0, 1}},
                            ImageStates::Transition{resting, {0, 1, 1, 2}},
                            ImageStates::Transition{sampled, {1, 2, 0, 2}},
                            ImageStates::Transition{resting, {1, 2, 2, 1}}));
}

TEST(ImageStates, BecomeOneAgain) {
    ImageStates states(3, 2, VK_IMAGE_LAYOUT_UNDEFINED);
    for (std::uint32_t mip = 0; mip < 3; ++mip) {
        for (std::uint32_t layer = 0; layer < 2; ++layer) {
            const ImagePart part{mip, 1, layer, 1};
            EXPECT_THAT(move(states, part, copied),
                        ElementsAre(ImageStates::Transition{VK_IMAGE_LAYOUT_UNDEFINED, part}));
            states.note(part, true, 1);
        }
    }
    EXPECT_TRUE(states.conflicts(states.whole(), copied, false, 1));
    states.note(states.whole(), false, 2);
    EXPECT_FALSE(states.conflicts({2, 1, 1, 1}, copied, false, 2));
    EXPECT_TRUE(states.conflicts({2, 1, 1, 1}, copied, true, 2));
    EXPECT_THAT(move(states, states.whole(), resting),
                ElementsAre(ImageStates::Transition{copied, states.whole()}));
}

TEST(ImagePart, OverlapsInMipsAndLayers) {
    const ImagePart part{1, 2, 3, 4};
    EXPECT_TRUE(part.overlaps(part));
    EXPECT_TRUE(part.overlaps({2, 5, 6, 1}));
    EXPECT_FALSE(part.overlaps({3, 1, 3, 4}));
    EXPECT_FALSE(part.overlaps({1, 2, 7, 1}));
    EXPECT_FALSE(part.overlaps({0, 1, 0, 9}));
}

}  // namespace
}  // namespace kf::vulkan
