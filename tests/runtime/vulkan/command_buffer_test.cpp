// Calls in a command buffer of the caller's: barriers to what is around them, and what they use while it
// runs.
#include <kf/vulkan.h>

#include "application.h"
#include "core/device_state.h"
#include "devices.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float command_poison = 77.F;

class CommandBufferTest : public ::testing::Test {
protected:
    static Device adopt(const VulkanApplication& application) {
        VulkanHandles handles;
        handles.instance = application.instance();
        handles.physical_device = application.physical_device();
        handles.device = application.device();
        handles.queue = application.queue();
        handles.features = VulkanApplication::features();
        return kf::adopt(handles);
    }
    /// Ends and submits it, and waits for nothing.
    RecordedCommands run(CommandBufferEncoder& encoder, VkCommandBuffer commands) const {
        RecordedCommands recorded = encoder.finish();
        application_.end(commands);
        application_.submit(commands);
        return recorded;
    }

    VulkanApplication application_;
    Device device_ = adopt(application_);
    devices::Module module_{device_};
};

TEST_F(CommandBufferTest, CallsRunWhereTheCallerSubmitsThem) {
    for (const std::int64_t size : {1, 33, 4097}) {
        std::vector<float> expected(static_cast<std::size_t>(size) + 4, command_poison);
        const auto whole = device_.tensor<float>(expected);
        const auto x = whole.slice(0, 2, 2 + size);
        module_.advance(x, -76.F);  // not yet with the queue when the next ones are recorded
        const VkCommandBuffer commands = application_.begin();
        CommandBufferEncoder encoder(device_, commands);
        module_.advance.append_to(encoder, x, 1.F);
        const auto y = module_.polynomial.append_to(encoder, 1, 0, 3, x);
        RecordedCommands recorded = encoder.finish();
        application_.end(commands);
        EXPECT_THAT(x.to_vector(), Each(1));
        // Nobody waits: reading comes behind what the queue has.
        application_.submit(commands);
        EXPECT_THAT(y.to_vector(), Each(7));
        application_.wait();
        application_.submit(commands);
        std::fill(expected.begin() + 2, expected.end() - 2, 3.F);
        EXPECT_EQ(whole.to_vector(), expected);
        EXPECT_THAT(y.to_vector(), Each(12));
        x.copy_from(std::vector<float>(static_cast<std::size_t>(size), 5.F));
        EXPECT_THAT(x.to_vector(), Each(5));
        application_.wait();
        recorded.release();
        recorded.release();
        EXPECT_THAT(module_.polynomial(1, 0, 3, y).to_vector(), Each(147));
    }
}

TEST_F(CommandBufferTest, WhatCallsUseIsKeptUntilItIsReleased) {
    const auto y = device_.zeros<float>({4097});
    const auto used = [&] { return vulkan::statistics(device_.state()->driver()).used; };
    const auto before = used();
    const VkCommandBuffer commands = application_.begin();
    CommandBufferEncoder encoder(device_, commands);
    {
        const auto z = device_.tensor<float>(std::vector<float>(4097, 3.F));
        module_.polynomial.append_to(encoder, 1, 0, 0, z, out(y));
    }
    RecordedCommands recorded = encoder.finish();
    application_.end(commands);
    // These would lie where the recorded call reads.
    std::vector<Tensor<float, 1>> others;
    for (int i = 0; i < 4; ++i) others.push_back(device_.tensor<float>(std::vector<float>(4097, 50.F)));
    device_.wait();
    application_.submit(commands);
    EXPECT_THAT(y.to_vector(), Each(9));
    others.clear();
    application_.wait();
    device_.wait();
    EXPECT_GT(used(), before);
    recorded.release();
    EXPECT_EQ(used(), before);
}

TEST_F(CommandBufferTest, DerivativesAndHooksAreRecordedToo) {
    const auto x = device_.tensor<float>({1, 2, 3}).with_grads();
    const auto y = device_.zeros<float>({3});
    const VkCommandBuffer commands = application_.begin();
    CommandBufferEncoder encoder(device_, commands);
    const auto moved = module_.polynomial.hook(
        [&](HookContext& context) { module_.advance.append_to(context.encoder(), x, 1.F); });
    moved.append_to(encoder, 1, 0, 0, x, out(y));
    module_.polynomial.backward.append_to(encoder, 1, 0, 0, x, y);
    RecordedCommands recorded = run(encoder, commands);
    EXPECT_THAT(y.to_vector(), ElementsAre(4, 9, 16));
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(4, 6, 8));
    application_.wait();
    recorded.release();
}

TEST_F(CommandBufferTest, ADeviceThatClosesWaitsForWhatIsNotReleased) {
    VulkanApplication application;
    const VkCommandBuffer commands = application.begin();
    {
        const Device device = adopt(application);
        const devices::Module module(device);
        CommandBufferEncoder encoder(device, commands);
        module.advance.append_to(encoder, device.zeros<float>({1 << 16}), 1.F);
        const RecordedCommands recorded = encoder.finish();
        application.end(commands);
        application.submit(commands);
    }
    EXPECT_THAT(application.messages(), ::testing::IsEmpty());
}

TEST_F(CommandBufferTest, MisuseIsRefused) {
    const auto x = device_.tensor<float>({1, 2, 3});
    EXPECT_EQ(error_of([&] { CommandBufferEncoder(device_, nullptr); }),
              "missing-argument: vulkan: the command buffer to record into is null");
    const VkCommandBuffer commands = application_.begin();
    CommandBufferEncoder encoder(device_, commands);
    module_.advance.append_to(encoder, x, 1.F);
    EXPECT_THAT(error_of([&] { encoder.submit(); }),
                HasSubstr("encoder-submitted: the encoder records into a "
                          "command buffer of yours: call finish()"));
    RecordedCommands recorded = run(encoder, commands);
    EXPECT_THAT(error_of([&] { (void)encoder.finish(); }),
                HasSubstr("encoder-submitted: the encoder was finished"));
    EXPECT_THAT(error_of([&] { module_.advance.append_to(encoder, x, 1.F); }),
                HasSubstr("encoder-submitted: the encoder was finished"));
    const Device other = Device::open("vulkan");
    EXPECT_EQ(module_.advance.try_append_to(encoder, x, 1.F).error().code(), ErrorCode::encoder_submitted);
    EXPECT_THAT(x.to_vector(), ElementsAre(2, 3, 4));
    application_.wait();
    recorded.release();

    // Lists of the two kinds end in different ways.
    driver::Device& driver = device_.state()->driver();
    EXPECT_THAT(error_of([&] { (void)vulkan::finish(driver, driver.make_recorder()); }),
                HasSubstr("device-mismatch: vulkan: the recorder to finish records into no command buffer"));
    EXPECT_THAT(error_of([&] { (void)vulkan::finish(driver, other.state()->driver().make_recorder()); }),
                HasSubstr("device-mismatch: vulkan: the recorder to finish is not of this device"));
    EXPECT_THAT(error_of([&] { driver.submit(vulkan::record_into(driver, application_.begin())); }),
                HasSubstr("device-mismatch: vulkan: the recorder to submit records into a command buffer"));

    // A call that is refused leaves the command buffer as it was.
    const VkCommandBuffer more = application_.begin();
    CommandBufferEncoder second(device_, more);
    const auto foreign = other.tensor<float>({1});
    EXPECT_EQ(module_.advance.try_append_to(second, foreign, 1.F).error().code(), ErrorCode::device_mismatch);
    RecordedCommands nothing = run(second, more);
    EXPECT_THAT(foreign.to_vector(), ElementsAre(1));
    application_.wait();
    nothing.release();
}

/// The caller's own commands before and after, on buffers, whose accesses the validation layer follows.
TEST_F(CommandBufferTest, TheCallersCommandsAroundItAreInOrder) {
    driver::Device& driver = device_.state()->driver();
    const auto kernel = driver.load_kernel(add_buffers_kernel());
    constexpr VkDeviceSize bytes = 4000;
    std::array<std::shared_ptr<void>, 3> owners;
    std::array<VkBuffer, 3> buffers{};
    std::array<std::shared_ptr<driver::Allocation>, 3> memory;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i] = application_.make_buffer(bytes, owners[i]);
        memory[i] = driver.wrap({reinterpret_cast<std::uintptr_t>(buffers[i]), 0, bytes, owners[i]});
        driver.fill(memory[i], 0, bytes, poison);
    }
    const VkCommandBuffer commands = application_.begin();
    application_.vk.vkCmdFillBuffer(commands, buffers[0], 0, bytes, 7);
    auto recorder = vulkan::record_into(driver, commands);
    add_buffers(*recorder, 8, kernel, {range(memory[0]), driver::BufferRange{memory[1], 0, bytes - 400}}, 5);
    const std::uint64_t first = vulkan::finish(driver, std::move(recorder));
    const VkBufferCopy region{0, 0, bytes};
    application_.vk.vkCmdCopyBuffer(commands, buffers[1], buffers[2], 1, &region);
    // Writes what the copy has read.
    application_.vk.vkCmdFillBuffer(commands, buffers[0], 0, bytes, 1);
    recorder = vulkan::record_into(driver, commands);
    add_buffers(*recorder, 8, kernel, {range(memory[0]), range(memory[1])}, 1);
    const std::uint64_t second = vulkan::finish(driver, std::move(recorder));
    application_.end(commands);
    application_.submit(commands);
    Words expected(1000, 12);
    std::fill_n(expected.end() - 100, 100, poison);
    EXPECT_EQ(read(driver, memory[2]), expected);
    EXPECT_EQ(read(driver, memory[1]), Words(1000, 2));
    application_.wait();
    vulkan::release(driver, first);
    vulkan::release(driver, second);
    EXPECT_THAT(application_.messages(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kf::test
