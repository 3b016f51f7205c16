// Images of an application's as textures: what either side writes, the other reads, in the image's layout.
#include <kf/texture.h>
#include <kf/vulkan.h>

#include "application.h"
#include "core/device_state.h"
#include "core/texture_state.h"

namespace kf::test {
namespace {

class AdoptedImagesTest : public ::testing::TestWithParam<VkImageLayout> {
protected:
    AdoptedImagesTest() {
        VulkanHandles handles;
        handles.instance = application_.instance();
        handles.physical_device = application_.physical_device();
        handles.device = application_.device();
        handles.queue = application_.queue();
        handles.features = VulkanApplication::features();
        device_ = adopt(handles);
        shape_.extents = {5, 7};
        shape_.format = TextureFormat::rgba8;
        shape_.mips = 2;
        shape_.is_array = true;
        shape_.layers = 3;
        shape_.writable = GetParam() == VK_IMAGE_LAYOUT_GENERAL;
        make_image();
        run([&](VkCommandBuffer commands) { barrier(commands, VK_IMAGE_LAYOUT_UNDEFINED); });
    }

    void make_image() {
        VkImageCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = VK_FORMAT_R8G8B8A8_UNORM;
        info.extent = {7, 5, 1};
        info.mipLevels = 2;
        info.arrayLayers = 3;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        ASSERT_EQ(vk.vkCreateImage(application_.device(), &info, nullptr, &image_), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.vkGetImageMemoryRequirements(application_.device(), image_, &needs);
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.allocationSize = needs.size;
        while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1U) == 0) ++allocate.memoryTypeIndex;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        ASSERT_EQ(vk.vkAllocateMemory(application_.device(), &allocate, nullptr, &memory), VK_SUCCESS);
        ASSERT_EQ(vk.vkBindImageMemory(application_.device(), image_, memory, 0), VK_SUCCESS);
        owner_ = std::shared_ptr<void>(nullptr, [this, memory](void*) {
            vk.vkDestroyImage(application_.device(), image_, nullptr);
            vk.vkFreeMemory(application_.device(), memory, nullptr);
            is_gone_ = true;
        });
    }
    /// All before, then all after, and the image from `old` to its layout.
    void barrier(VkCommandBuffer commands, VkImageLayout old) const {
        VkImageMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT;
        barrier.oldLayout = old;
        barrier.newLayout = GetParam();
        barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image_;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 0, 3};
        vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    }
    template <class Record>
    void run(Record record) const {
        const VkCommandBuffer commands = application_.begin();
        record(commands);
        application_.end(commands);
        application_.submit(commands);
        application_.wait();
    }
    [[nodiscard]] AnyTexture adopted() {
        return adopt(device_, VulkanImage{image_, shape_, static_cast<std::uint32_t>(GetParam()), owner_});
    }

    VulkanApplication application_;
    vulkan::DeviceFunctions& vk = application_.vk;
    bool is_gone_ = false;
    VkImage image_ = VK_NULL_HANDLE;
    std::shared_ptr<void> owner_;
    TextureShape shape_;
    Device device_;
};
INSTANTIATE_TEST_SUITE_P(Layouts, AdoptedImagesTest,
                         ::testing::Values(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                           VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL));

TEST_P(AdoptedImagesTest, AreReadWhereKernelsAndTheHostHaveWritten) {
    std::vector<uint8_t4> texels(105);
    for (std::size_t i = 0; i < texels.size(); ++i)
        texels[i] = {static_cast<std::uint8_t>(i), 1, 2, static_cast<std::uint8_t>(255 - i)};
    {
        const Texture2DArray<float4> texture(adopted());
        texture.copy_from(texels);
        EXPECT_EQ(texture.to_vector<uint8_t4>(), texels);
        texture.mip(1).copy_from(std::vector<uint8_t4>(18, {9, 9, 9, 9}));
        device_.flush();
    }
    if (GetParam() == VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL) return;  // the application copies from others
    // Its layer 1, as the application reads it.
    std::shared_ptr<void> memory;
    const VkBuffer buffer = application_.make_buffer(140, memory);
    run([&](VkCommandBuffer commands) {
        barrier(commands, GetParam());
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1};
        copy.imageExtent = {7, 5, 1};
        vk.vkCmdCopyImageToBuffer(commands, image_, GetParam(), buffer, 1, &copy);
    });
    driver::Device& driver = device_.state()->driver();
    std::vector<uint8_t4> found(35);
    driver.read_back(driver.wrap({reinterpret_cast<std::uintptr_t>(buffer), 0, 140, memory}), 0,
                     std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, std::vector(texels.begin() + 35, texels.begin() + 70));
}

TEST_P(AdoptedImagesTest, GoWithTheLastTexture) {
    AnyTexture texture = adopted();
    owner_.reset();
    const AnyTexture view = texture.layer(1).mip(0);
    texture = AnyTexture();
    view.write(std::vector<std::byte>(140));
    EXPECT_FALSE(is_gone_);
    device_.wait();
    device_ = Device();
    EXPECT_FALSE(is_gone_);
}

TEST_P(AdoptedImagesTest, RefuseWhatTheyAreNot) {
    const AnyTexture texture = adopted();
    EXPECT_EQ(texture.writable(), shape_.writable);
    if (!texture.writable()) {
        EXPECT_THROW((void)RWTexture2DArray<float4>(texture), ArgumentError);
    }
    EXPECT_THROW((void)Texture2D<float4>(texture), ArgumentError);
    VulkanImage other{image_, shape_, VK_IMAGE_LAYOUT_UNDEFINED, owner_};
    EXPECT_THROW((void)adopt(device_, other), ArgumentError);
    other.layout = static_cast<std::uint32_t>(GetParam());
    other.shape.layers = 2;
    EXPECT_THROW((void)adopt(device_, other), ArgumentError) << "it is adopted otherwise";
}

}  // namespace
}  // namespace kf::test
