// The list of drivers, and the public doors to one driver's own features.
#include "core/backends.h"

#include <kf/vulkan.h>

#include "core/all_backends.h"
#include "core/device_state.h"
#include "core/encoder_state.h"
#include "core/process.h"
#include "vulkan/driver.h"

#ifdef __ELF__
#define KF_WHERE_LINKED [[gnu::weak]]
#else
#define KF_WHERE_LINKED
#endif

namespace kf {

namespace detail {

// One that isn't linked is at address 0.
KF_WHERE_LINKED extern const Backend cuda_backend;
KF_WHERE_LINKED extern const Backend vulkan_backend;

}  // namespace detail

std::vector<Backend> backends() {
    detail::choose_backends();
    std::vector<Backend> linked;
    for (const Backend* const one : {&detail::cuda_backend, &detail::vulkan_backend}) {
        if (one != nullptr) linked.push_back(*one);
    }
    return linked;
}

Device adopt(const VulkanHandles& handles) {
    vulkan::AdoptedVulkan adopted;
    adopted.instance = handles.instance;
    adopted.physical_device = handles.physical_device;
    adopted.device = handles.device;
    adopted.queue = handles.queue;
    adopted.queue_family = handles.queue_family;
    adopted.features = handles.features;
    adopted.lock_queue = handles.lock_queue;
    adopted.unlock_queue = handles.unlock_queue;
    adopted.owner = handles.owner;
    detail::start_drivers();
    return detail::make_device(vulkan::adopt_vulkan(adopted));
}

namespace {

std::unique_ptr<detail::EncoderState> command_buffer_state(const Device& device,
                                                           VkCommandBuffer_T* commands) {
    auto state = std::make_unique<detail::EncoderState>();
    state->recorder = vulkan::record_into(device.state()->driver(), commands);
    state->device = device.state();
    state->target = detail::EncoderState::Target::command_buffer;
    return state;
}

}  // namespace

CommandBufferEncoder::CommandBufferEncoder(const Device& device, VkCommandBuffer_T* commands)
    : Encoder(command_buffer_state(device, commands)) {}

RecordedCommands CommandBufferEncoder::finish() {
    detail::EncoderState& open = state();
    open.note_run();
    return {open.device, vulkan::finish(open.device->driver(), std::move(open.recorder))};
}

void RecordedCommands::release() {
    if (device_ != nullptr) {
        vulkan::release(device_->driver(), commands_);
        device_ = nullptr;
    }
}

}  // namespace kf
