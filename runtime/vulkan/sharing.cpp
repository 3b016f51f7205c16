// Memory and semaphores that another API in this process has, too.
#include "vulkan/sharing.h"

#include <kf/error.h>

#include <algorithm>

#include "vulkan/device.h"
#include "vulkan/imports.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

VulkanDevice& sharing_device(driver::Device& device) {
    if (!can_share(device)) {
        throw DeviceError(ErrorCode::missing_feature, device.info().backend + ": " + device.info().name +
                                                          " lacks " + share_files_word +
                                                          ", without which no memory is shared");
    }
    return static_cast<VulkanDevice&>(device);
}

}  // namespace

bool can_share(const driver::Device& device) {
    const auto* ours = dynamic_cast<const VulkanDevice*>(&device);
    return ours != nullptr && ours->context()->vk.vkGetMemoryFdKHR != nullptr &&
           ours->context()->vk.vkGetSemaphoreFdKHR != nullptr &&
           std::ranges::find(device.info().features, share_files_word) != device.info().features.end();
}

SharedMemory make_shared_memory(driver::Device& device, std::uint64_t size) {
    VulkanDevice& ours = sharing_device(device);
    const Context& context = *ours.context();
    const std::shared_ptr<VulkanAllocation> memory = ours.memory().make_exportable(size);
    VkMemoryGetFdInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    info.memory = memory->shared_memory();
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    int file = -1;
    check(context.vk.vkGetMemoryFdKHR(context.device, &info, &file), "vkGetMemoryFdKHR");
    return {memory, file};
}

std::shared_ptr<driver::Allocation> import_memory(driver::Device& device, int file, std::uint64_t size) {
    return sharing_device(device).memory().import_file(file, size);
}

std::shared_ptr<driver::Allocation> part_of(driver::Device& device,
                                            const std::shared_ptr<driver::Allocation>& whole,
                                            std::uint64_t offset, std::uint64_t size) {
    const auto& memory = static_cast<const VulkanAllocation&>(*whole);
    return device.wrap(
        {reinterpret_cast<std::uintptr_t>(memory.buffer()), memory.offset() + offset, size, whole});
}

struct SharedTimeline::Handle {
    std::shared_ptr<Context> context;
    VkSemaphore semaphore = VK_NULL_HANDLE;

    explicit Handle(std::shared_ptr<Context> of) : context(std::move(of)) {
        VkExportSemaphoreCreateInfo exported{};
        exported.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO;
        exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
        VkSemaphoreTypeCreateInfo type{};
        type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
        type.pNext = &exported;
        type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
        VkSemaphoreCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
        info.pNext = &type;
        check(context->vk.vkCreateSemaphore(context->device, &info, nullptr, &semaphore),
              "vkCreateSemaphore");
    }
    ~Handle() {
        if (context->process.is_here()) context->vk.vkDestroySemaphore(context->device, semaphore, nullptr);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
};

SharedTimeline::SharedTimeline(driver::Device& device)
    : device_(device), handle_(std::make_unique<Handle>(sharing_device(device).context())) {}

SharedTimeline::~SharedTimeline() {
    try {
        if (handle_->context->process.is_here())
            static_cast<VulkanDevice&>(device_).wait_until_queue_is_idle();
    } catch (...) {  // a destructor has nobody to tell
    }
}

int SharedTimeline::file() const {
    VkSemaphoreGetFdInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
    info.semaphore = handle_->semaphore;
    info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    int file = -1;
    check(handle_->context->vk.vkGetSemaphoreFdKHR(handle_->context->device, &info, &file),
          "vkGetSemaphoreFdKHR");
    return file;
}

void SharedTimeline::wait(std::uint64_t value) {
    static_cast<VulkanDevice&>(device_).wait_on_queue(handle_->semaphore, value);
}

void SharedTimeline::signal(std::uint64_t value) {
    static_cast<VulkanDevice&>(device_).signal_on_queue(handle_->semaphore, value);
}

}  // namespace kf::vulkan
