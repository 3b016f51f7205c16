// Tests of which images a GPU can run, and in what order they are tried.
#include "cuda/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::test {
namespace {

using cuda::Architecture;
using cuda::Capability;
using Names = std::vector<std::string>;

Names choose(const Names& images, const Capability& device) {
    manifest::Kernel kernel;
    for (const std::string& name : images) {
        manifest::Image image;
        image.format = name.substr(0, name.find(' '));
        image.architecture = name.substr(name.find(' ') + 1);
        kernel.images.push_back(image);
    }
    Names chosen;
    for (const manifest::Image* image : cuda::choose_images(kernel, device)) {
        chosen.push_back(cuda::image_name(*image));
    }
    return chosen;
}

TEST(Images, BestFirst) {
    const Names all{"ptx sm_80", "cubin sm_80", "cubin sm_86", "cubin sm_90", "cubin sm_100", "spirv x"};
    EXPECT_EQ(choose(all, {9, 0}), (Names{"cubin sm_90", "ptx sm_80"}));
    EXPECT_EQ(choose(all, {8, 0}), (Names{"cubin sm_80", "ptx sm_80"}));
    EXPECT_EQ(choose(all, {8, 9}), (Names{"cubin sm_86", "cubin sm_80", "ptx sm_80"}));
    EXPECT_EQ(choose(all, {10, 3}), (Names{"cubin sm_100", "ptx sm_80"}));
    EXPECT_EQ(choose(all, {12, 0}), (Names{"ptx sm_80"}));
    EXPECT_EQ(choose(all, {7, 5}), Names{});
}

TEST(Images, TheLatestPtxThatTheDeviceKnows) {
    const Names all{"ptx compute_70", "ptx sm_90", "ptx sm_80", "ptx sm_100"};
    EXPECT_EQ(choose(all, {9, 0}), (Names{"ptx sm_90", "ptx sm_80", "ptx compute_70"}));
}

TEST(Images, SpecialArchitecturesRunWhereTheyMay) {
    const Names all{"cubin sm_90", "cubin sm_90a", "cubin sm_100f", "cubin sm_100a", "ptx sm_90a"};
    EXPECT_EQ(choose(all, {9, 0}), (Names{"cubin sm_90a", "cubin sm_90", "ptx sm_90a"}));
    EXPECT_EQ(choose(all, {10, 0}), (Names{"cubin sm_100a", "cubin sm_100f"}));
    EXPECT_EQ(choose(all, {10, 3}), (Names{"cubin sm_100f"}));
    EXPECT_EQ(choose(all, {12, 0}), Names{});
}

TEST(Images, ReadsArchitectures) {
    EXPECT_EQ(Architecture::parse("sm_120")->capability, (Capability{12, 0}));
    EXPECT_EQ(Architecture::parse("sm_90a")->suffix, 'a');
    EXPECT_EQ(Architecture::parse("compute_75")->capability, (Capability{7, 5}));
    for (const char* text : {"", "sm_", "sm_9", "sm_90b", "sm_90aa", "90", "sm_-90", "gfx90", "sm_99999"}) {
        EXPECT_FALSE(Architecture::parse(text)) << text;
    }
}

}  // namespace
}  // namespace kf::test
