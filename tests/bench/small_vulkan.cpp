// Small calls by hand on Vulkan: one submission each, with commands recorded anew; nothing but the driver's
// functions in what is timed.
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>

#include "measure.h"
#include "small.h"
#include "spirv_kernel.h"
#include "vulkan/context.h"
#include "vulkan/kernel.h"

namespace bench_support {
namespace {

using namespace kf::vulkan;

constexpr std::size_t room = 64UL << 10;  ///< bytes of each buffer
constexpr VkMemoryPropertyFlags host_memory = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                              VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                              VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

void check(VkResult result) {
    if (result < 0) throw std::runtime_error("Vulkan: " + std::to_string(result));
}

std::unique_ptr<VulkanKernel> load(const std::shared_ptr<Context>& context, const std::filesystem::path& path,
                                   std::uint32_t group, std::int64_t block) {
    return std::make_unique<VulkanKernel>(context,
                                          spirv_kernel(path, group, block, {"buffer_device_address"}));
}

/// What all ways share.
struct Program {
    Program(int index, const std::filesystem::path& folder) {
        auto instance = std::make_shared<Instance>(std::make_shared<Library>("libvulkan.so.1"), false);
        const auto devices = instance->physical_devices();
        Physical physical = describe(*instance, devices.at(static_cast<std::size_t>(index)));
        is_cpu = physical.info.is_cpu;
        context = std::make_shared<Context>(std::move(instance), std::move(physical), true);
        add = load(context, folder / "add.spv", 1, sizeof(AddBlock));
        polynomial = load(context, folder / "small.spv", small_group, sizeof(PolynomialBlock));
        const DeviceFunctions& vk = context->vk;
        constexpr VkBufferUsageFlags usage =
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        in = create_buffer(*context, room, usage, host_memory, 0);
        out = create_buffer(*context, room, usage, host_memory, 0);
        device_in = create_buffer(*context, room, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
        device_out = create_buffer(*context, room, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
        VkCommandPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        info.queueFamilyIndex = context->queue_family;
        check(vk.vkCreateCommandPool(context->device, &info, nullptr, &pool));
        VkCommandBufferAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.commandPool = pool;
        allocate.commandBufferCount = 1;
        check(vk.vkAllocateCommandBuffers(context->device, &allocate, &commands));
        VkSemaphoreTypeCreateInfo type{};
        type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
        type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
        VkSemaphoreCreateInfo semaphore{};
        semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
        semaphore.pNext = &type;
        check(vk.vkCreateSemaphore(context->device, &semaphore, nullptr, &timeline));
        const auto get = context->instance->functions().vkGetDeviceProcAddr;
        const auto create_fence = reinterpret_cast<PFN_vkCreateFence>(get(context->device, "vkCreateFence"));
        reset_fences = reinterpret_cast<PFN_vkResetFences>(get(context->device, "vkResetFences"));
        fence_status = reinterpret_cast<PFN_vkGetFenceStatus>(get(context->device, "vkGetFenceStatus"));
        wait_fences = reinterpret_cast<PFN_vkWaitForFences>(get(context->device, "vkWaitForFences"));
        VkFenceCreateInfo fence_info{};
        fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        check(create_fence(context->device, &fence_info, nullptr, &fence));
    }

    void begin() const {
        const DeviceFunctions& vk = context->vk;
        check(vk.vkResetCommandPool(context->device, pool, 0));
        VkCommandBufferBeginInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        check(vk.vkBeginCommandBuffer(commands, &info));
    }
    void barrier(VkPipelineStageFlags from, VkAccessFlags writes, VkPipelineStageFlags to,
                 VkAccessFlags accesses) const {
        VkMemoryBarrier all{};
        all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        all.srcAccessMask = writes;
        all.dstAccessMask = accesses;
        context->vk.vkCmdPipelineBarrier(commands, from, to, 0, 1, &all, 0, nullptr, 0, nullptr);
    }
    void copy(const Buffer& from, const Buffer& to, std::size_t size) const {
        const VkBufferCopy region{0, 0, size};
        context->vk.vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
    }
    template <class Block>
    void dispatch(const VulkanKernel& kernel, std::uint32_t groups, const Block& block) const {
        const DeviceFunctions& vk = context->vk;
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
        vk.vkCmdPushConstants(commands, kernel.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof block,
                              &block);
        vk.vkCmdDispatch(commands, groups, 1, 1);
    }

    // Kept until the process ends.
    std::shared_ptr<Context> context;
    bool is_cpu = false;
    std::unique_ptr<VulkanKernel> add;
    std::unique_ptr<VulkanKernel> polynomial;
    Buffer in;
    Buffer out;
    Buffer device_in;
    Buffer device_out;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkSemaphore timeline = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    PFN_vkResetFences reset_fences = nullptr;
    PFN_vkGetFenceStatus fence_status = nullptr;
    PFN_vkWaitForFences wait_fences = nullptr;
    std::uint64_t submitted = 0;
};

/// How a call waits: it asks a timeline or a fence again and again, or sleeps at once.
enum class Wait : std::uint8_t { timeline, fence, sleep };

class VulkanCalls final : public HandCalls {
public:
    VulkanCalls(std::shared_ptr<Program> program, bool mapped, Wait wait)
        : program_(std::move(program)), mapped_(mapped), wait_(wait) {}

    int add(int a, int b) override {
        const Program& p = *program_;
        p.begin();
        p.dispatch(*p.add, 1, AddBlock{mapped_ ? p.out.address : p.device_out.address, a, b});
        finish(sizeof(int));
        int result = 0;
        std::memcpy(&result, p.out.mapped, sizeof result);
        return result;
    }
    void polynomial(const std::vector<float>& x, std::vector<float>& y) override {
        const Program& p = *program_;
        const std::size_t size = x.size() * sizeof(float);
        const auto count = static_cast<std::uint32_t>(x.size());
        std::memcpy(p.in.mapped, x.data(), size);
        p.begin();
        if (!mapped_) {
            p.copy(p.in, p.device_in, size);
            p.barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
        }
        p.dispatch(*p.polynomial, (count + small_group - 1) / small_group,
                   PolynomialBlock{mapped_ ? p.out.address : p.device_out.address,
                                   mapped_ ? p.in.address : p.device_in.address, 2, 8, -1, count});
        finish(size);
        std::memcpy(y.data(), p.out.mapped, size);
    }

private:
    void finish(std::size_t size) {
        Program& p = *program_;
        const DeviceFunctions& vk = p.context->vk;
        if (!mapped_) {
            p.barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                      VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
            p.copy(p.device_out, p.out, size);
        }
        p.barrier(mapped_ ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT,
                  mapped_ ? VK_ACCESS_SHADER_WRITE_BIT : VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        check(vk.vkEndCommandBuffer(p.commands));
        const std::uint64_t value = ++p.submitted;
        VkTimelineSemaphoreSubmitInfo signal{};
        signal.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
        signal.signalSemaphoreValueCount = 1;
        signal.pSignalSemaphoreValues = &value;
        VkSubmitInfo submit{};
        submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        submit.pNext = &signal;
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &p.commands;
        submit.signalSemaphoreCount = 1;
        submit.pSignalSemaphores = &p.timeline;
        check(vk.vkQueueSubmit(p.context->queue, 1, &submit,
                               wait_ == Wait::fence ? p.fence : VkFence{VK_NULL_HANDLE}));
        wait(value);
    }

    void wait(std::uint64_t value) const {
        const Program& p = *program_;
        const DeviceFunctions& vk = p.context->vk;
        if (wait_ == Wait::fence) {
            if (p.is_cpu) check(p.wait_fences(p.context->device, 1, &p.fence, VK_TRUE, UINT64_MAX));
            while (p.fence_status(p.context->device, p.fence) == VK_NOT_READY) {
            }
            check(p.reset_fences(p.context->device, 1, &p.fence));
            return;
        }
        std::uint64_t reached = 0;
        while (wait_ == Wait::timeline && !p.is_cpu && reached < value) {
            check(vk.vkGetSemaphoreCounterValue(p.context->device, p.timeline, &reached));
        }
        if (reached >= value) return;
        VkSemaphoreWaitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = &p.timeline;
        info.pValues = &value;
        check(vk.vkWaitSemaphores(p.context->device, &info, UINT64_MAX));
    }

    std::shared_ptr<Program> program_;
    bool mapped_;
    Wait wait_;
};

}  // namespace

NamedCalls vulkan_by_hand(int index, const std::filesystem::path& folder) {
    const auto program = std::make_shared<Program>(index, folder);
    NamedCalls calls;
    const auto add = [&](const char* name, bool mapped, Wait wait) {
        calls.emplace_back(name, std::make_unique<VulkanCalls>(program, mapped, wait));
    };
    add("copied", false, Wait::timeline);
    add("mapped", true, Wait::timeline);
    add("mapped.fence", true, Wait::fence);
    add("mapped.sleeping", true, Wait::sleep);
    return calls;
}

}  // namespace bench_support
