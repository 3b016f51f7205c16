// One command buffer: records commands with the barriers they need, and owns what they use.
#include "vulkan/commands.h"

#include <kf/error.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/dispatch.h"
#include "vulkan/labels.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

void memory_barrier(const DeviceFunctions& vk, VkCommandBuffer buffer, VkPipelineStageFlags from_stages,
                    VkAccessFlags from, VkPipelineStageFlags to_stages, VkAccessFlags to,
                    std::span<const VkImageMemoryBarrier> images = {}) {
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = from;
    barrier.dstAccessMask = to;
    vk.vkCmdPipelineBarrier(buffer, from_stages, to_stages, 0, 1, &barrier, 0, nullptr,
                            static_cast<std::uint32_t>(images.size()), images.data());
}

/// Returns what hazards go by, for memory that was checked to be of this driver.
const void* hazard_key(const driver::Allocation& memory) {
    return static_cast<const VulkanAllocation&>(memory).hazard_key();
}

constexpr VkPipelineStageFlags our_stages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags our_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags our_accesses = our_writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

}  // namespace

CommandList::CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters, Runs runs)
    : context_(std::move(context)), parameters_(std::move(parameters)), runs_(runs), descriptors_(context_) {
    const DeviceFunctions& vk = context_->vk;
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = runs == Runs::once ? VK_COMMAND_POOL_CREATE_TRANSIENT_BIT : 0;
    pool.queueFamilyIndex = context_->queue_family;
    check(vk.vkCreateCommandPool(context_->device, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    const VkResult result = vk.vkAllocateCommandBuffers(context_->device, &info, &buffer_);
    if (result < 0) {
        vk.vkDestroyCommandPool(context_->device, pool_, nullptr);
        fail(result, "vkAllocateCommandBuffers failed");
    }
}

CommandList::CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters,
                         VkCommandBuffer callers)
    : context_(std::move(context)),
      parameters_(std::move(parameters)),
      buffer_(callers),
      descriptors_(context_) {}

CommandList::~CommandList() {
    if (!is_callers() && context_->process.is_here()) {
        context_->vk.vkDestroyCommandPool(context_->device, pool_, nullptr);
    }
}

VulkanAllocation& CommandList::checked(const Context* context, driver::Allocation* allocation,
                                       std::uint64_t offset, std::uint64_t size, const char* what) {
    const bool is_own = allocation != nullptr && allocation->home == context;
    driver::check_range(context->physical.info, is_own ? allocation : nullptr, offset, size, what);
    return static_cast<VulkanAllocation&>(*allocation);
}

void CommandList::begin() {
    if (recording_) {
        return;
    }
    if (!is_callers()) {
        VkCommandBufferBeginInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        // A list that runs often may be submitted while it runs: its own barrier puts the runs in order.
        info.flags = runs_ == Runs::once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT
                                         : VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
        check(context_->vk.vkBeginCommandBuffer(buffer_, &info), "vkBeginCommandBuffer");
    }
    recording_ = true;
    // Submissions of one queue start in order but overlap: wait for whatever came before, the caller's own
    // work on an adopted queue included.
    memory_barrier(context_->vk, buffer_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                   VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

void CommandList::keep(driver::Allocation& allocation) {
    auto& ours = static_cast<VulkanAllocation&>(allocation);
    if (ours.is_foreign()) {
        foreign_.add(ours);
    } else {
        allocations_.add(allocation);
    }
}

void CommandList::keep(const std::shared_ptr<HostPool::Chunk>& chunk) {
    if (chunks_.empty() || chunks_.back() != chunk) {
        chunks_.push_back(chunk);
    }
}

void CommandList::barrier(std::span<const ImageAccess> images) {
    barriers_.clear();
    for (const ImageAccess& one : images) {
        change_layout(one.image->handle(), *one.states, one.part, one.layout);
    }
    memory_barrier(context_->vk, buffer_, our_stages, our_writes, our_stages, our_accesses, barriers_);
    hazards_.clear();
    ++epoch_;
}

std::uint64_t CommandList::store_block(std::span<const std::byte> block, std::uint64_t room) {
    if (blocks_ == nullptr || blocks_->left() < room) {
        std::shared_ptr<HostPool::Chunk> chunk = parameters_->acquire();
        if (chunk == nullptr) {
            throw DeviceError(
                ErrorCode::out_of_memory,
                "vulkan: too many recorded dispatches wait to be submitted: no memory is left for "
                "their parameters");
        }
        keep(chunk);
        blocks_ = std::move(chunk);
    }
    const std::uint64_t offset = blocks_->take(block.size());
    std::memcpy(blocks_->buffer().mapped + offset, block.data(), block.size());
    return offset;
}

void CommandList::describe_buffer(const VulkanKernel& kernel, std::size_t index,
                                  const driver::BufferRange& buffer) {
    const Limits& limits = context_->physical.limits;
    const manifest::ResourceSlot& slot = kernel.resources()[index];
    const VulkanAllocation& memory =
        checked(context_.get(), buffer.allocation.get(), buffer.offset, buffer.size, "bind");
    const std::uint64_t offset = memory.offset() + buffer.offset;
    // No range is smaller than an element of one byte.
    if (buffer.is_empty && slot.stride == 1 && limits.null_buffers) {
        bound_resources_[index].buffer = {VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
        return;
    }
    const auto what = [&] { return "vulkan: kernel '" + kernel.name() + "': buffer '" + slot.name + "' "; };
    if (offset % limits.buffer_alignment != 0) {
        throw ArgumentError(
            ErrorCode::layout_mismatch,
            what() + "must begin at a multiple of " + std::to_string(limits.buffer_alignment) + " bytes");
    }
    if (buffer.size > limits.max_buffer) {
        throw ArgumentError(ErrorCode::value_range, what() + "has " + std::to_string(buffer.size) +
                                                        " bytes; at most " +
                                                        std::to_string(limits.max_buffer) + " fit");
    }
    bound_resources_[index].buffer = {memory.buffer(), offset, buffer.size};
}

void CommandList::describe(const VulkanKernel& kernel, const driver::Dispatch& dispatch) {
    driver::check_resources(context_->physical.info, kernel.name(), kernel.resources(), dispatch.resources);
    bound_resources_.assign(dispatch.resources.size(), {});
    accesses_.clear();
    for (std::size_t i = 0; i < dispatch.resources.size(); ++i) {
        bound_resources_[i].type = kernel.resource_types()[i];
        const driver::Resource& given = dispatch.resources[i];
        if (const auto* buffer = std::get_if<driver::BufferRange>(&given)) {
            describe_buffer(kernel, i, *buffer);
        } else if (const auto* image = std::get_if<driver::ImageBinding>(&given)) {
            describe_image(kernel, i, *image);
        } else {
            driver::Sampler& sampler = *std::get<driver::SamplerBinding>(given).sampler;
            bound_resources_[i].image.sampler = describe_sampler(kernel, i, sampler);
        }
    }
    settle_layouts();
}

void CommandList::dispatch(const driver::Dispatch& dispatch) {
    if (dispatch.kernel == nullptr || dispatch.kernel->home != context_.get()) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            "vulkan: the kernel to dispatch is not of this device");
    }
    const auto* kernel = static_cast<const VulkanKernel*>(dispatch.kernel);
    driver::check_block(context_->physical.info, kernel->name(), kernel->block_size(), dispatch.block.size());
    driver::check_grid(context_->physical.info, kernel->name(), dispatch.groups);
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr) {
            checked(context_.get(), use.allocation, 0, 0, "use");
        }
    }
    const bool are_known = known_.are(*kernel, dispatch.resources);
    if (!are_known) {
        known_.forget();
        describe(*kernel, dispatch);
    }
    if (driver::is_empty(dispatch.groups)) {
        return;
    }

    // All that can throw comes before the first command.
    VkPipeline pipeline = pipeline_of(*kernel, dispatch);
    begin();
    kernels_.add(*dispatch.kernel);
    bool conflict = false;
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr && use.allocation->size != 0) {
            keep(*use.allocation);
            conflict = conflict || hazards_.conflicts(hazard_key(*use.allocation), use.writes);
        }
    }
    const std::vector<manifest::ResourceSlot>& slots = kernel->resources();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (const auto memory = driver::memory_of(dispatch.resources[i])) {
            keep(*memory);
            conflict = conflict || hazards_.conflicts(hazard_key(*memory), slots[i].writes);
        } else if (driver::Sampler* sampler =
                       are_known ? nullptr : driver::sampler_of(dispatch.resources[i])) {
            samplers_.add(*sampler);
        }
    }
    conflict = conflicts(accesses_) || conflict;
    const VkDescriptorSet resources = are_known ? known_.set() : set_of(*kernel, dispatch);
    const manifest::Passing passing = kernel->passing();
    std::uint64_t block_at = 0;
    if (passing != manifest::Passing::value) {
        block_at = store_block(dispatch.block, passing == manifest::Passing::uniform
                                                   ? std::uint64_t{manifest::max_uniform_block}
                                                   : dispatch.block.size());
    }
    if (conflict) {
        barrier(accesses_);
    }
    note(accesses_);
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr && use.allocation->size != 0) {
            hazards_.note(hazard_key(*use.allocation), use.writes);
        }
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (const auto memory = driver::memory_of(dispatch.resources[i])) {
            hazards_.note(hazard_key(*memory), slots[i].writes);
        }
    }

    const DeviceFunctions& vk = context_->vk;
    if (bound_ != pipeline) {
        vk.vkCmdBindPipeline(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bound_ = pipeline;
    }
    if (passing == manifest::Passing::uniform) {
        const VkDescriptorSet set = blocks_->set();
        const auto offset = static_cast<std::uint32_t>(block_at);
        bind(kernel->layout(), 0, set, {&offset, 1});
    } else if (passing == manifest::Passing::address) {
        const std::uint64_t address = blocks_->buffer().address + block_at;
        vk.vkCmdPushConstants(buffer_, kernel->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof address,
                              &address);
    } else if (kernel->block_size() != 0) {
        vk.vkCmdPushConstants(buffer_, kernel->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->block_size(),
                              dispatch.block.data());
    }
    if (resources != VK_NULL_HANDLE && (bound_layout_ != kernel->layout() || bound_set_ != resources)) {
        bind(kernel->layout(), VulkanKernel::resource_set, resources, {});
        bound_set_ = resources;
    }
    const CommandLabel label(vk, buffer_, dispatch.label.empty() ? kernel->name() : dispatch.label);
    vk.vkCmdDispatch(buffer_, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
    ++size_;
}

VkDescriptorSet CommandList::set_of(const VulkanKernel& kernel, const driver::Dispatch& dispatch) {
    if (dispatch.resources.empty()) return VK_NULL_HANDLE;
    const VkDescriptorSet set =
        descriptors_.make(kernel.resource_layout(), kernel.resource_numbers(), bound_resources_);
    known_.remember(kernel, dispatch.resources, set);
    return set;
}

void CommandList::bind(VkPipelineLayout layout, std::uint32_t number, VkDescriptorSet set,
                       std::span<const std::uint32_t> offsets) {
    context_->vk.vkCmdBindDescriptorSets(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, number, 1, &set,
                                         static_cast<std::uint32_t>(offsets.size()), offsets.data());
    // Another layout may disturb sets that were bound at other numbers.
    if (bound_layout_ != layout) bound_set_ = VK_NULL_HANDLE;
    bound_layout_ = layout;
}

void CommandList::order(std::initializer_list<std::pair<const void*, bool>> accesses,
                        std::span<ImageAccess> images) {
    const auto waits = [&](const auto& one) { return hazards_.conflicts(one.first, one.second); };
    if (conflicts(images) || std::ranges::any_of(accesses, waits)) {
        barrier(images);
    }
    for (const auto& [key, writes] : accesses) hazards_.note(key, writes);
    note(images);
}

void CommandList::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                       std::uint64_t size, std::uint32_t word) {
    const VulkanAllocation& to = checked(context_.get(), target.get(), offset, size, "fill");
    driver::check_fill(context_->physical.info, to.offset() + offset, size);
    if (size == 0) {
        return;
    }
    begin();
    keep(*target);
    order({{to.hazard_key(), true}});
    context_->vk.vkCmdFillBuffer(buffer_, to.buffer(), to.offset() + offset, size, word);
    ++size_;
}

void CommandList::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                       std::uint64_t size) {
    const VulkanAllocation& to = checked(context_.get(), target.get(), target_offset, size, "copy to");
    const VulkanAllocation& from = checked(context_.get(), source.get(), source_offset, size, "copy from");
    const VkBufferCopy region{from.offset() + source_offset, to.offset() + target_offset, size};
    if (to.buffer() == from.buffer())
        driver::check_copy(context_->physical.info, region.dstOffset, region.srcOffset, size);
    if (size == 0) {
        return;
    }
    begin();
    keep(*target);
    keep(*source);
    order({{to.hazard_key(), true}, {from.hazard_key(), false}});
    context_->vk.vkCmdCopyBuffer(buffer_, from.buffer(), to.buffer(), 1, &region);
    ++size_;
}

void CommandList::copy_in(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                          std::uint64_t size, const std::shared_ptr<HostPool::Chunk>& chunk,
                          std::uint64_t chunk_offset) {
    const VulkanAllocation& to = checked(context_.get(), target.get(), offset, size, "write");
    begin();
    keep(*target);
    keep(chunk);
    order({{to.hazard_key(), true}});
    const VkBufferCopy region{chunk_offset, to.offset() + offset, size};
    context_->vk.vkCmdCopyBuffer(buffer_, chunk->buffer().buffer, to.buffer(), 1, &region);
    ++size_;
}

void CommandList::copy_out(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                           std::uint64_t size, const std::shared_ptr<HostPool::Chunk>& chunk,
                           std::uint64_t chunk_offset) {
    const VulkanAllocation& from = checked(context_.get(), source.get(), offset, size, "read");
    begin();
    keep(*source);
    keep(chunk);
    order({{from.hazard_key(), false}});
    const VkBufferCopy region{from.offset() + offset, chunk_offset, size};
    context_->vk.vkCmdCopyBuffer(buffer_, from.buffer(), chunk->buffer().buffer, 1, &region);
    ++size_;
}

void CommandList::write(const std::shared_ptr<VulkanTimestamp>& timestamp) {
    begin();
    timestamps_.push_back(timestamp);
    timestamp->write(buffer_);
    ++size_;
}

VkCommandBuffer CommandList::finish() {
    if (ended_) {
        return buffer_;
    }
    barriers_.clear();
    for (auto& [handle, tracked] : tracked_) {
        change_layout(handle, tracked.states, tracked.image->whole(), tracked.image->resting_layout());
    }
    if (is_callers()) {
        if (recording_) {
            memory_barrier(context_->vk, buffer_, our_stages, our_writes,
                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                           VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT,
                           barriers_);
        }
        ended_ = true;
        return buffer_;
    }
    begin();
    // Read-backs: a semaphore makes nothing visible to the host. Layouts change before the next list begins.
    memory_barrier(context_->vk, buffer_, our_stages, our_writes,
                   VK_PIPELINE_STAGE_HOST_BIT | (barriers_.empty() ? 0 : our_stages), VK_ACCESS_HOST_READ_BIT,
                   barriers_);
    check(context_->vk.vkEndCommandBuffer(buffer_), "vkEndCommandBuffer");
    ended_ = true;
    return buffer_;
}

void CommandList::reset() {
    check(context_->vk.vkResetCommandPool(context_->device, pool_, 0), "vkResetCommandPool");
    recording_ = false;
    ended_ = false;
    is_over = false;
    size_ = 0;
    hazards_.clear();
    ++epoch_;
    bound_ = VK_NULL_HANDLE;
    bound_layout_ = VK_NULL_HANDLE;
    bound_set_ = VK_NULL_HANDLE;
    known_.forget();
    blocks_ = nullptr;
    descriptors_.reset();
    allocations_.clear();
    tracked_.clear();
    begun_.clear();
    timestamps_.clear();
    images_.clear();
    samplers_.clear();
    (void)foreign_.take();
    kernels_.clear();
    chunks_.clear();
}

}  // namespace kf::vulkan
