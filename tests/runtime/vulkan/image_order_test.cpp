// Tests of what textures are in between commands: written before they are read, in the right layouts, and
// gone only when nobody needs them.
#include <array>

#include "application.h"
#include "images_testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ImagesTest, WhatIsWrittenIsReadNext) {
    const auto kernel = device_->load_kernel(add_kernel());
    auto a = floats(33, 7, 1);
    auto b = floats(33, 7, 0);
    for (int i = 0; i < 100; ++i) {  // over several batches
        add(*device_, kernel, b, a, 1);
        std::swap(a, b);
    }
    EXPECT_THAT(values(a), Each(101.F));
    EXPECT_THAT(values(b), Each(100.F));
    // In place, where it has to be in one layout.
    add(*device_, kernel, a, a, 5);
    add(*device_, kernel, a, a, 5);
    EXPECT_THAT(values(a), Each(111.F));
    // A transfer, a kernel and a transfer again.
    const auto memory = device_->allocate(33 * 7 * 4);
    for (int i = 0; i < 5; ++i) {
        device_->copy_from_image(memory, 0, a, whole_mip(a->shape, 0));
        device_->copy_to_image(b, whole_mip(b->shape, 0), memory, 0);
        add(*device_, kernel, a, b, 1);
    }
    EXPECT_THAT(values(a), Each(116.F));
    // Fresh ones: texels that nobody has defined are overwritten.
    const auto fresh = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    add(*device_, kernel, fresh, a, 4);
    EXPECT_THAT(values(fresh), Each(120.F));
}

TEST_F(ImagesTest, AreBoundAgainAsLongAsNothingElseIs) {
    const std::array kernels{device_->load_kernel(add_kernel()), device_->load_kernel(add_kernel())};
    const auto a = floats(33, 7, 1);
    const auto b = floats(33, 7, 0);
    const auto c = floats(33, 7, 0);
    for (const auto& kernel : kernels) {
        for (float step = 1; step < 4; ++step) add(*device_, kernel, b, a, step);  // 4
        for (float step = 1; step < 4; ++step) add(*device_, kernel, c, b, step);  // 7
        add(*device_, kernel, b, a, 1);                                            // 2
        add(*device_, kernel, a, c, 0);                                            // 7
        add(*device_, kernel, a, b, -1);                                           // 1
    }
    for (std::size_t i = 0; i < 4; ++i) {  // the layouts of two kernels by turns
        add(*device_, kernels[i % 2], c, c, 1);
        add(*device_, kernels[i % 2], c, c, 1);
    }
    EXPECT_THAT(values(a), Each(1.F));
    EXPECT_THAT(values(b), Each(2.F));
    EXPECT_THAT(values(c), Each(15.F));
    for (int i = 0; i < 20; ++i) {  // others at the addresses of those that are gone
        const auto gone = floats(33, 7, static_cast<float>(i));
        add(*device_, kernels[0], b, gone, 1);
        add(*device_, kernels[0], b, gone, 2);
        EXPECT_THAT(i % 7 == 0 ? values(b) : Floats{}, Each(static_cast<float>(i) + 2));
    }
    EXPECT_THAT(values(b), Each(21.F));
}

TEST_F(ImagesTest, MipsAndLayersAreApart) {
    const auto kernel = device_->load_kernel(add_kernel());
    const auto chain = floats(64, 64, 1, 7);
    for (std::uint32_t mip = 1; mip < 7; ++mip) {
        add(*device_, kernel, chain, chain, 1, mip_of(mip), mip_of(mip - 1));
    }
    for (std::uint32_t mip = 0; mip < 7; ++mip) {
        EXPECT_THAT(values(chain, mip), Each(1.F + static_cast<float>(mip)));
    }
    // All mips are sampled while one of them is written: the first is read.
    add(*device_, kernel, chain, chain, 10, mip_of(3), {0, 7, 0, 1, two, false});
    EXPECT_THAT(values(chain, 3), Each(11.F));
    EXPECT_THAT(values(chain, 2), Each(3.F));
    const auto layers = make(two, TextureFormat::r32f, {7, 7, 1}, 1, 5, true);
    device_->upload_image(layers, whole_mip(layers->shape, 0), bytes_of(Floats(49 * 5, 1)));
    for (std::uint32_t layer = 1; layer < 5; ++layer) {
        add(*device_, kernel, layers, layers, 1, mip_of(0, layer), mip_of(0, layer - 1));
    }
    const Floats found = values(layers);
    for (std::size_t layer = 0; layer < 5; ++layer) {
        EXPECT_EQ(found[layer * 49 + 48], 1.F + static_cast<float>(layer));
    }
}

TEST_F(ImagesTest, RecordedCommandsFindTheirLayouts) {
    const auto kernel = device_->load_kernel(add_kernel());
    auto a = floats(33, 7, 1);
    const auto fresh = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    auto first = device_->make_recorder();
    auto second = device_->make_recorder();
    add(*second, kernel, a, fresh, 10);
    add(*first, kernel, fresh, a, 1);
    add(*first, kernel, a, fresh, 1);
    add(*second, kernel, fresh, a, 100);
    add(*device_, kernel, a, a, 1000);
    device_->submit(std::move(first));
    add(*device_, kernel, a, a, 1000);
    device_->submit(std::move(second));
    EXPECT_THAT(values(a), Each(1012.F));
    EXPECT_THAT(values(fresh), Each(1112.F));

    const auto graph = device_->make_graph();
    const auto only_here = make(two, TextureFormat::r32f, {33, 7, 1}, 1, 1, true);
    add(*graph, kernel, only_here, a, 1);
    add(*graph, kernel, a, only_here, 1);
    for (int i = 0; i < 5; ++i) {
        device_->replay(*graph);
        device_->replay(*graph);
        add(*device_, kernel, fresh, a, 0);
        const AddBlock block{33, 7, 2};
        graph->set_block(1, std::as_bytes(std::span(&block, 1)));
    }
    EXPECT_THAT(values(fresh), Each(1012.F + 2 * 2 + 8 * 3));
    EXPECT_THAT(values(a), Each(1012.F + 2 * 2 + 8 * 3));
}

TEST_F(ImagesTest, GoOnlyWhenTheyAreDone) {
    const auto kernel = device_->load_kernel(add_kernel());
    const auto sum = floats(257, 33, 0);
    const std::uint64_t before = used().images_used;
    for (int i = 0; i < 20; ++i) {
        const auto temporary = make(two, TextureFormat::r32f, {257, 33, 1}, 1, 1, true);
        add(*device_, kernel, temporary, sum, 1);
        add(*device_, kernel, sum, temporary, 1);
    }
    EXPECT_THAT(values(sum), Each(40.F));
    EXPECT_EQ(used().images_used, before);
    // What a graph alone has.
    const auto graph = device_->make_graph();
    {
        const auto temporary = floats(257, 33, 7);
        add(*graph, kernel, sum, temporary, 1);
    }
    device_->replay(*graph);
    EXPECT_THAT(values(sum), Each(8.F));
    EXPECT_GT(used().images_used, before);
}

class AdoptedImagesTest : public ::testing::Test {
protected:
    AdoptedImagesTest() {
        vulkan::AdoptedVulkan adopted;
        adopted.instance = application_.instance();
        adopted.physical_device = application_.physical_device();
        adopted.device = application_.device();
        adopted.queue = application_.queue();
        adopted.features = VulkanApplication::features();
        device_ = vulkan::adopt_vulkan(adopted);
    }
    void TearDown() override {
        device_ = nullptr;
        EXPECT_THAT(application_.messages(), IsEmpty());
    }
    /// An image of the application's, in `layout`.
    VkImage make(VkImageLayout layout, std::shared_ptr<void>& owner, std::function<void()> destroyed = {}) {
        const VkImage image = application_.make_image(33, 7, owner, std::move(destroyed));
        const VkCommandBuffer commands = application_.begin();
        application_.change_layout(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
        application_.end(commands);
        application_.submit(commands);
        return image;
    }
    static driver::ForeignImage foreign(VkImage image, VkImageLayout layout, std::shared_ptr<void> owner) {
        return {reinterpret_cast<std::uintptr_t>(image), shape, static_cast<std::uint32_t>(layout), false,
                std::move(owner)};
    }
    Floats values(const ImagePtr& image) { return as<float>(read_mip(*device_, image)); }

    static constexpr ImageShape shape{two, TextureFormat::r32f, 33, 7, 1, 1, 1, true};
    VulkanApplication application_;
    std::shared_ptr<driver::Device> device_;
};

TEST_F(AdoptedImagesTest, AreLeftInTheirLayouts) {
    bool freed = false;
    const auto kernel = device_->load_kernel(add_kernel());
    const auto ours = device_->make_image(shape);
    for (const VkImageLayout layout : {VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL}) {
        std::shared_ptr<void> owner;
        freed = false;
        const VkImage handle = make(layout, owner, [&] { freed = true; });
        auto image = device_->wrap_image(foreign(handle, layout, owner));
        owner = nullptr;
        device_->upload_image(image, whole_mip(shape, 0), bytes_of(Floats(33 * 7, 1)));
        add(*device_, kernel, ours, image, 1);
        add(*device_, kernel, image, ours, 1);
        device_->flush();
        // The application goes on where the last batch has left it.
        std::shared_ptr<void> buffers_owner;
        const VkBuffer buffer = application_.make_buffer(33 * 7 * 4, buffers_owner);
        const VkCommandBuffer commands = application_.begin();
        application_.change_layout(commands, handle, layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {33, 7, 1};
        application_.vk.vkCmdCopyImageToBuffer(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer,
                                               1, &copy);
        application_.change_layout(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, layout);
        application_.end(commands);
        application_.submit(commands);
        const auto memory = device_->wrap({reinterpret_cast<std::uintptr_t>(buffer), 0, 33 * 7 * 4, nullptr});
        Floats found(33 * 7);
        device_->read_back(memory, 0, std::as_writable_bytes(std::span(found)));
        EXPECT_THAT(found, Each(3.F));
        EXPECT_THAT(values(image), Each(3.F));
        // Another wrapper of the same image, in one batch with the first.
        const auto again = device_->wrap_image(foreign(handle, layout, nullptr));
        add(*device_, kernel, ours, again, 1);
        add(*device_, kernel, image, ours, 1);
        add(*device_, kernel, again, image, 1);
        EXPECT_THAT(values(again), Each(6.F));
        EXPECT_THAT(
            error_of([&] {
                (void)device_->wrap_image(foreign(handle, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, nullptr));
            }),
            HasSubstr("shape-mismatch: vulkan: an image is wrapped as a 2D texture of 33 x 7, r32f, and "
                      "already as"));
        EXPECT_FALSE(freed);
        image = nullptr;
        device_->wait();
        application_.wait();
        EXPECT_TRUE(freed);
    }
    std::shared_ptr<void> owner;
    const VkImage handle = application_.make_image(33, 7, owner);
    EXPECT_THAT(
        error_of([&] { (void)device_->wrap_image(foreign(handle, VK_IMAGE_LAYOUT_UNDEFINED, nullptr)); }),
        HasSubstr("value-range: vulkan: a texture to wrap is in no layout that it could be left in"));
    EXPECT_THAT(error_of([&] {
                    (void)device_->wrap_image(foreign(VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL, nullptr));
                }),
                HasSubstr("missing-argument"));
}

TEST_F(AdoptedImagesTest, InCommandBuffersOfTheCallers) {
    const auto kernel = device_->load_kernel(add_kernel());
    constexpr VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    std::shared_ptr<void> owner;
    const VkImage handle = make(layout, owner);
    const auto image = device_->wrap_image(foreign(handle, layout, owner));
    device_->upload_image(image, whole_mip(shape, 0), bytes_of(Floats(33 * 7, 1)));
    const auto fresh = device_->make_image(shape);
    const VkCommandBuffer commands = application_.begin();
    auto recorder = vulkan::record_into(*device_, commands);
    add(*recorder, kernel, fresh, image, 1);
    add(*recorder, kernel, image, fresh, 1);
    const std::uint64_t recorded = vulkan::finish(*device_, std::move(recorder));
    // Back from the layout that it was given in.
    application_.change_layout(commands, handle, layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    application_.change_layout(commands, handle, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout);
    application_.end(commands);
    for (int i = 0; i < 3; ++i) {
        application_.submit(commands);
        application_.wait();
    }
    EXPECT_THAT(values(image), Each(7.F));
    EXPECT_THAT(values(fresh), Each(6.F));
    vulkan::release(*device_, recorded);
}

}  // namespace
}  // namespace kf::test
