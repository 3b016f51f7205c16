// An open Vulkan device: eager commands in batches, transfers, submissions.
#include "vulkan/device.h"

#include <kf/error.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

#include "core/dispatch.h"
#include "vulkan/graph.h"
#include "vulkan/imports.h"
#include "vulkan/recorder.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

constexpr std::size_t batch_commands = 64;
constexpr std::size_t max_in_flight = 32;       ///< submissions, where many threads were admitted at once
constexpr std::uint64_t patience = 50'000'000;  ///< nanoseconds
constexpr std::uint64_t transfer_chunk = 4ULL << 20;  ///< bytes
constexpr std::size_t upload_chunks = 16;
constexpr std::size_t read_back_chunks = 64;
constexpr std::chrono::microseconds full_pool_pause{50};
constexpr std::uint64_t staged_limit = 16ULL << 20;  ///< bytes of a batch: keeps host and GPU both copying
constexpr std::uint64_t mapped_size = 8ULL << 20;    ///< bytes of host memory that kernels may use
constexpr std::chrono::microseconds polling{50};     ///< of a GPU, before the thread sleeps
constexpr std::uint64_t little = 1024;  ///< bytes, below which mapped memory is as good as an import
constexpr std::uint64_t parameter_chunk = 256ULL << 10;  ///< bytes
constexpr std::size_t parameter_chunks = 1024;

/// Leaves the processor's core to its other thread for a moment.
void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Returns driver::Info::least_import.
std::uint64_t least_import(const Context& context, const driver::Info& info) {
    const bool imports = context.vk.vkGetMemoryHostPointerPropertiesEXT != nullptr &&
                         std::ranges::find(info.features, import_host_word) != info.features.end();
    return imports && info.is_cpu ? little : ~std::uint64_t{0};
}

class QueueLock {
public:
    QueueLock(const std::function<void()>& lock, const std::function<void()>& unlock) : unlock_(unlock) {
        if (lock) {
            lock();
        }
    }
    ~QueueLock() {
        if (unlock_) {
            unlock_();
        }
    }
    QueueLock(const QueueLock&) = delete;
    QueueLock& operator=(const QueueLock&) = delete;

private:
    const std::function<void()>& unlock_;
};

}  // namespace

VulkanDevice::VulkanDevice(std::shared_ptr<Context> context, driver::Info info,
                           std::function<void()> lock_queue, std::function<void()> unlock_queue)
    : context_(std::move(context)),
      info_(std::move(info)),
      lock_queue_(std::move(lock_queue)),
      unlock_queue_(std::move(unlock_queue)),
      memory_(std::make_shared<Memory>(context_)),
      mapped_(std::make_shared<Memory>(context_, Memory::Place::host)),
      uploads_(
          std::make_shared<HostPool>(context_, HostPool::Purpose::upload, transfer_chunk, upload_chunks)),
      read_backs_(std::make_shared<HostPool>(context_, HostPool::Purpose::read_back, transfer_chunk,
                                             read_back_chunks)),
      parameters_(std::make_shared<HostPool>(context_, HostPool::Purpose::parameters, parameter_chunk,
                                             parameter_chunks)),
      images_(std::make_unique<Images>(context_)),
      samplers_(std::make_unique<Samplers>(context_)),
      timestamps_(context_) {
    info_.least_import = least_import(*context_, info_);
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphore{};
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = &type;
    check(context_->vk.vkCreateSemaphore(context_->device, &semaphore, nullptr, &timeline_),
          "vkCreateSemaphore");
}

VulkanDevice::~VulkanDevice() {
    try {
        const std::lock_guard lock(mutex_);
        // Issued commands run, even if nobody looks: memory of an adopted device may be the caller's.
        if (!lost_) {
            flush_current();
        }
    } catch (...) {  // a destructor has nobody to tell
    }
    if (submitted_ != 0) {
        VkSemaphoreWaitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = &timeline_;
        info.pValues = &submitted_;
        (void)context_->vk.vkWaitSemaphores(context_->device, &info, UINT64_MAX);
    }
    if (!callers_.empty()) {
        const QueueLock lock(lock_queue_, unlock_queue_);
        (void)context_->vk.vkQueueWaitIdle(context_->queue);
    }
    current_.reset();
    in_flight_.clear();
    callers_.clear();
    idle_.clear();
    context_->vk.vkDestroySemaphore(context_->device, timeline_, nullptr);
}

void VulkanDevice::check_lost(VkResult result, const char* function) {
    if (result == VK_ERROR_DEVICE_LOST) {
        lost_ = true;
    }
    check(result, function);
}

void VulkanDevice::check_usable() const {
    if (lost_) {
        throw DeviceError(ErrorCode::device_lost,
                          "vulkan: " + info_.name + " was lost earlier; open it again",
                          static_cast<std::int64_t>(VK_ERROR_DEVICE_LOST));
    }
}

std::shared_ptr<driver::Allocation> VulkanDevice::allocate(std::uint64_t size) {
    if (auto allocation = memory_->take(size)) {
        return allocation;
    }
    {
        // Batches that are done since may have let go of enough.
        const Lock lock(*this);
        check_usable();
        reclaim();
    }
    try {
        return memory_->take_or_grow(size);
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::out_of_memory) {
            throw;
        }
    }
    wait_for_all(&VulkanDevice::wait_for);
    images_->memory().trim();
    return memory_->take_or_grow(size);
}

std::shared_ptr<driver::Allocation> VulkanDevice::allocate_mapped(std::uint64_t size) {
    if (size == 0 || size > driver::most_mapped) {
        return nullptr;
    }
    if (context_->direct_mapping) {
        return allocate(size);
    }
    if (auto allocation = mapped_->take_of_one(size, mapped_size)) {
        return allocation;
    }
    // Batches that are done since may have let go of enough.
    const Lock lock(*this);
    check_usable();
    reclaim();
    return mapped_->take(size);
}

std::shared_ptr<driver::Allocation> VulkanDevice::import_host(const driver::HostMemory& memory) {
    check_usable();
    return info_.least_import == ~std::uint64_t{0} ? nullptr : memory_->import_host(memory);
}

std::shared_ptr<driver::Allocation> VulkanDevice::zeros(std::uint64_t size) {
    if (size > driver::most_zeros) {
        return nullptr;
    }
    {
        const Lock lock(*this);
        check_usable();
        if (zeros_ != nullptr) {
            return zeros_;
        }
    }
    std::shared_ptr<driver::Allocation> made = allocate(driver::most_zeros);
    // The zeros are kept under the lock of the fill's recording: a submission that fails forgets both.
    const Lock lock(*this);
    if (zeros_ == nullptr) {
        current().fill(made, 0, driver::most_zeros, 0);
        used_now(made.get());
        zeros_ = made;
        flush_if_full();
        return made;
    }
    // Another thread's zeros came first, and these aren't filled.
    return zeros_;
}

std::shared_ptr<driver::Kernel> VulkanDevice::load_kernel(const manifest::Kernel& kernel) {
    check_usable();
    return std::make_shared<VulkanKernel>(context_, kernel);
}

std::unique_ptr<CommandList> VulkanDevice::new_list() {
    if (idle_.empty()) {
        return std::make_unique<CommandList>(context_, parameters_);
    }
    std::unique_ptr<CommandList> list = std::move(idle_.back());
    idle_.pop_back();
    return list;
}

CommandList& VulkanDevice::current() {
    check_usable();
    if (current_ == nullptr) {
        current_ = new_list();
    }
    return *current_;
}

void VulkanDevice::used_now(driver::Allocation* allocation) {
    if (allocation != nullptr) {
        static_cast<VulkanAllocation*>(allocation)->last_use = submitted_ + 1;
    }
}

void VulkanDevice::flush_if_full() {
    if (current_ != nullptr && (current_->size() >= batch_commands || staged_ >= staged_limit)) {
        flush_current();
    }
}

void VulkanDevice::dispatch(const driver::Dispatch& dispatch) {
    const Lock lock(*this);
    for (const driver::Resource& resource : dispatch.resources) {
        begin_fresh(driver::image_of(resource));
    }
    current().dispatch(dispatch);
    for (const driver::Use& use : dispatch.uses) {
        used_now(use.allocation);
    }
    for (const driver::Resource& resource : dispatch.resources) {
        used_now(driver::memory_of(resource).get());
    }
    flush_if_full();
}

void VulkanDevice::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                        std::uint64_t size, std::uint32_t word) {
    const Lock lock(*this);
    current().fill(target, offset, size, word);
    used_now(target.get());
    flush_if_full();
}

void VulkanDevice::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                        const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                        std::uint64_t size) {
    const Lock lock(*this);
    current().copy(target, target_offset, source, source_offset, size);
    used_now(target.get());
    used_now(source.get());
    flush_if_full();
}

void VulkanDevice::upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
    const Lock lock(*this);
    check_usable();
    const VulkanAllocation& to =
        CommandList::checked(context_.get(), target.get(), offset, bytes.size(), "write");
    if (bytes.empty()) {
        return;
    }
    if (to.host != nullptr && to.callers_uses == 0) {
        if (to.last_use > completed_) {
            reclaim();
        }
        if (to.last_use <= completed_) {
            std::memcpy(to.host + offset, bytes.data(), bytes.size());
            return;
        }
    }
    stage(target, offset, bytes);
}

void VulkanDevice::stage(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        if (staging_ == nullptr || staging_->left() == 0) {
            staging_ = uploads_->acquire();
            if (staging_ == nullptr) {
                flush_current();
                wait_oldest();
                continue;
            }
        }
        const std::size_t size = std::min(bytes.size(), static_cast<std::size_t>(staging_->left()));
        const std::uint64_t place = staging_->take(size);
        std::memcpy(staging_->buffer().mapped + place, bytes.data(), size);
        current().copy_in(target, offset, size, staging_, place);
        used_now(target.get());
        staged_ += size;
        offset += size;
        bytes = bytes.subspan(size);
        flush_if_full();
    }
}

void VulkanDevice::read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                             std::span<std::byte> bytes) {
    Lock lock(*this);
    check_usable();
    const VulkanAllocation& from =
        CommandList::checked(context_.get(), source.get(), offset, bytes.size(), "read");
    if (bytes.empty()) {
        return;
    }
    if (from.host != nullptr && from.callers_uses == 0) {
        if (from.last_use > submitted_) {
            flush_current();
        }
        const std::uint64_t value = std::min(from.last_use, submitted_);
        lock.unlock();
        wait_patiently(value);
        std::memcpy(bytes.data(), from.host + offset, bytes.size());
        return;
    }
    lock.unlock();
    std::size_t left = bytes.size();
    read_pieces(bytes, [&](const std::shared_ptr<HostPool::Chunk>& chunk) {
        const std::size_t size = std::min(left, static_cast<std::size_t>(chunk->left()));
        current().copy_out(source, offset, size, chunk, 0);
        used_now(source.get());
        offset += size;
        left -= size;
        return size;
    });
}

void VulkanDevice::read_pieces(
    std::span<std::byte> bytes,
    const std::function<std::size_t(const std::shared_ptr<HostPool::Chunk>&)>& copy) {
    struct Piece {
        std::shared_ptr<HostPool::Chunk> chunk;
        std::uint64_t value = 0;
        std::span<std::byte> target;
    };
    std::deque<Piece> pieces;
    const auto finish_oldest = [&] {
        const Piece& piece = pieces.front();
        wait_patiently(piece.value);
        std::memcpy(piece.target.data(), piece.chunk->buffer().mapped, piece.target.size());
        pieces.pop_front();
    };
    while (!bytes.empty()) {
        // Two at a time: one is copied by the GPU while the host copies the other.
        if (pieces.size() == 2) {
            finish_oldest();
        }
        std::shared_ptr<HostPool::Chunk> chunk = read_backs_->acquire();
        if (chunk == nullptr) {
            if (!pieces.empty()) {
                finish_oldest();
                continue;
            }
            // Other threads have every chunk, until they have copied, or lists that nobody has looked after.
            {
                const Lock lock(*this);
                check_usable();
                reclaim();
            }
            std::this_thread::sleep_for(full_pool_pause);
            continue;
        }
        std::size_t size = 0;
        std::uint64_t value = 0;
        {
            const Lock lock(*this);
            size = copy(chunk);
            flush_current();
            value = submitted_;
        }
        pieces.push_back({std::move(chunk), value, bytes.first(size)});
        bytes = bytes.subspan(size);
    }
    while (!pieces.empty()) {
        finish_oldest();
    }
}

void VulkanDevice::flush() {
    const Lock lock(*this);
    check_usable();
    flush_current();
}

void VulkanDevice::wait() { wait_for_all(&VulkanDevice::wait_patiently); }

void VulkanDevice::wait_until_idle(const std::shared_ptr<driver::Allocation>& allocation) {
    std::uint64_t value = 0;
    {
        const Lock lock(*this);
        check_usable();
        const VulkanAllocation& memory =
            CommandList::checked(context_.get(), allocation.get(), 0, 0, "wait for");
        if (memory.last_use > submitted_) {
            flush_current();
        }
        value = std::min(memory.last_use, submitted_);
    }
    wait_patiently(value);
    const Lock lock(*this);
    reclaim();
}

void VulkanDevice::wait_for_all(void (VulkanDevice::*wait_until)(std::uint64_t value)) {
    std::uint64_t value = 0;
    {
        const Lock lock(*this);
        check_usable();
        flush_current();
        value = submitted_;
    }
    (this->*wait_until)(value);
    const Lock lock(*this);
    reclaim();
}

void VulkanDevice::wait_for_room(std::uint64_t upload) {
    const std::uint64_t chunks = (upload + transfer_chunk - 1) / transfer_chunk;
    // An upload larger than the pool waits for its own copies, and here for all else before it.
    const bool fits = chunks <= uploads_->limit() || while_waiting == nullptr;
    const std::uint64_t wanted = std::min<std::uint64_t>(uploads_->limit(), chunks);
    const auto has_room = [&] {
        return fits && in_flight_.size() < max_waiting && uploads_->available() >= wanted;
    };
    std::uint64_t last = 0;
    while (true) {
        std::uint64_t oldest = 0;
        {
            const Lock lock(*this);
            check_usable();
            if (has_room()) {
                return;
            }
            reclaim();
            if (in_flight_.empty() || (!fits && last == 0)) {
                flush_current();  // it has the chunks
            }
            last = last == 0 ? submitted_ : last;
            // Later submissions don't count: other threads may keep submitting endlessly.
            if (has_room() || in_flight_.empty() || completed_ >= last) {
                return;
            }
            oldest = in_flight_.front().value;
        }
        wait_patiently(oldest);
    }
}

std::unique_ptr<driver::Recorder> VulkanDevice::make_recorder() {
    const Lock lock(*this);
    check_usable();
    return std::make_unique<VulkanRecorder>(new_list());
}

void VulkanDevice::submit(std::unique_ptr<driver::Recorder> recorder) {
    std::unique_ptr<CommandList> list = take_list(recorder.get(), false);
    const Lock lock(*this);
    check_usable();
    begin_fresh(*list);
    flush_current();
    if (list->size() != 0) {
        submit_list(std::move(list));
    } else {
        idle_.push_back(std::move(list));
    }
}

std::unique_ptr<driver::Graph> VulkanDevice::make_graph() {
    check_usable();
    return std::make_unique<VulkanGraph>(context_, parameters_);
}

std::shared_ptr<driver::Timestamp> VulkanDevice::mark_time() {
    const Lock lock(*this);
    std::shared_ptr<VulkanTimestamp> timestamp = timestamps_.make();
    if (timestamp != nullptr) {
        current().write(timestamp);
        flush_if_full();
    }
    return timestamp;
}

double VulkanDevice::nanoseconds(const driver::Timestamp& from, const driver::Timestamp& to) const {
    return timestamps_.nanoseconds(static_cast<const VulkanTimestamp&>(from),
                                   static_cast<const VulkanTimestamp&>(to));
}

void VulkanDevice::replay(driver::Graph& graph) {
    auto* ours = dynamic_cast<VulkanGraph*>(&graph);
    if (ours == nullptr || ours->context() != context_.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, "vulkan: the graph to replay is not of this device");
    }
    const Lock lock(*this);
    check_usable();
    const std::shared_ptr<CommandList> list = ours->list();
    if (list->size() == 0) {
        return;
    }
    begin_fresh(*list);
    flush_current();
    submit_commands({0, nullptr, list}, list->finish());
}

std::unique_ptr<CommandList> VulkanDevice::take_list(driver::Recorder* recorder, bool is_callers) const {
    auto* ours = dynamic_cast<VulkanRecorder*>(recorder);
    const std::string what = std::string("vulkan: the recorder to ") + (is_callers ? "finish" : "submit");
    if (ours == nullptr || ours->list().context() != context_.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, what + " is not of this device");
    }
    if (ours->list().is_callers() != is_callers) {
        throw ArgumentError(
            ErrorCode::device_mismatch,
            what + (is_callers ? " records into no command buffer of the caller's: submit it"
                               : " records into a command buffer of the caller's: finish it"));
    }
    return ours->take();
}

std::unique_ptr<driver::Recorder> VulkanDevice::record_into(VkCommandBuffer commands) {
    const Lock lock(*this);
    check_usable();
    return std::make_unique<VulkanRecorder>(std::make_unique<CommandList>(context_, parameters_, commands));
}

std::uint64_t VulkanDevice::finish(std::unique_ptr<driver::Recorder> recorder) {
    std::unique_ptr<CommandList> list = take_list(recorder.get(), true);
    const Lock lock(*this);
    // The list is kept before anything can fail: the caller may submit what is recorded.
    const std::uint64_t commands = next_of_callers_++;
    const CommandList& kept = *(callers_[commands] = std::move(list));
    count_callers_use(kept, 1);
    check_usable();
    (void)callers_[commands]->finish();
    begin_fresh(kept);
    flush_current();
    return commands;
}

void VulkanDevice::release(std::uint64_t commands) {
    const Lock lock(*this);
    const auto found = callers_.find(commands);
    if (found == callers_.end()) {
        return;
    }
    count_callers_use(*found->second, -1);
    depart(*found->second);
    callers_.erase(found);
}

void VulkanDevice::count_callers_use(const CommandList& list, std::int32_t change) {
    list.each_memory(
        [change](VulkanAllocation& memory) { memory.callers_uses += static_cast<std::uint32_t>(change); });
}

void VulkanDevice::flush_current() {
    if (current_ == nullptr || current_->size() == 0) {
        return;
    }
    staging_ = nullptr;
    staged_ = 0;
    submit_list(std::move(current_));
}

void VulkanDevice::submit_list(std::unique_ptr<CommandList> list) {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    try {
        buffer = list->finish();
    } catch (...) {
        for (VulkanImage* image : list->begun()) image->is_fresh = true;
        zeros_ = nullptr;  // the list may be what fills them
        throw;
    }
    submit_commands({0, std::move(list), nullptr}, buffer);
}

void VulkanDevice::submit_commands(Submission submission, VkCommandBuffer buffer) {
    const std::uint64_t value = submitted_ + 1;
    submission.value = value;
    // The submission is kept first: the GPU may use it, and losing it would free what the GPU uses.
    in_flight_.push_back(std::move(submission));
    waiting_ = in_flight_.size();
    const VkResult result = submit_buffer(buffer, value);
    if (result < 0) {
        const std::size_t commands = in_flight_.back().commands().size();
        if (result == VK_ERROR_DEVICE_LOST) {
            lost_ = true;  // the GPU may have begun: keep what it may use
        } else {
            for (VulkanImage* image : in_flight_.back().commands().begun()) image->is_fresh = true;
            if (in_flight_.back().list != nullptr) depart(*in_flight_.back().list);
            in_flight_.pop_back();
            waiting_ = in_flight_.size();
            zeros_ = nullptr;  // the list may be what fills them
        }
        fail(result, "vkQueueSubmit failed, " + std::to_string(commands) + " commands were not run");
    }
    submitted_ = value;
    in_flight_.back().commands().each_memory([value](VulkanAllocation& memory) { memory.last_use = value; });
    reclaim();
    while (in_flight_.size() > max_in_flight) {
        wait_oldest();
    }
}

VkResult VulkanDevice::submit_buffer(VkCommandBuffer buffer, std::uint64_t value) {
    VkTimelineSemaphoreSubmitInfo timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &value;
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &buffer;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline_;
    const QueueLock lock(lock_queue_, unlock_queue_);
    return context_->vk.vkQueueSubmit(context_->queue, 1, &info, VK_NULL_HANDLE);
}

void VulkanDevice::wait_on_queue(VkSemaphore timeline, std::uint64_t value) {
    VkTimelineSemaphoreSubmitInfo values{};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.waitSemaphoreValueCount = 1;
    values.pWaitSemaphoreValues = &value;
    constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &values;
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &timeline;
    info.pWaitDstStageMask = &stages;
    submit_alone(info);
}

void VulkanDevice::signal_on_queue(VkSemaphore timeline, std::uint64_t value) {
    VkTimelineSemaphoreSubmitInfo values{};
    values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &values;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline;
    submit_alone(info);
}

void VulkanDevice::wait_until_queue_is_idle() {
    wait();
    const QueueLock queue(lock_queue_, unlock_queue_);
    check_lost(context_->vk.vkQueueWaitIdle(context_->queue), "vkQueueWaitIdle");
}

void VulkanDevice::submit_alone(const VkSubmitInfo& info) {
    const Lock lock(*this);
    check_usable();
    flush_current();
    const QueueLock queue(lock_queue_, unlock_queue_);
    check_lost(context_->vk.vkQueueSubmit(context_->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void VulkanDevice::depart(CommandList& list) {
    std::vector<std::shared_ptr<void>> owners = list.foreign().take();
    departing_.insert(departing_.end(), std::make_move_iterator(owners.begin()),
                      std::make_move_iterator(owners.end()));
}

void VulkanDevice::reclaim() {
    if (in_flight_.empty()) {
        return;
    }
    std::uint64_t value = 0;
    check_lost(context_->vk.vkGetSemaphoreCounterValue(context_->device, timeline_, &value),
               "vkGetSemaphoreCounterValue");
    completed_ = std::max(completed_, value);
    while (!in_flight_.empty() && in_flight_.front().value <= completed_) {
        std::unique_ptr<CommandList> list = std::move(in_flight_.front().list);
        std::shared_ptr<CommandList> graphs = std::move(in_flight_.front().graphs);
        in_flight_.pop_front();
        if (graphs != nullptr) {
            if (graphs->is_over && graphs.use_count() <= 2) {  // its graph has it, and no other run
                depart(*graphs);
                graphs->reset();
            }
            // The list's graph may be gone, or go meanwhile, and leave the list's owners to this reference.
            departing_.push_back(std::move(graphs));
            continue;
        }
        depart(*list);
        list->reset();
        idle_.push_back(std::move(list));
    }
    waiting_ = in_flight_.size();
}

void VulkanDevice::wait_oldest() {
    if (in_flight_.empty()) {
        throw DeviceError(ErrorCode::out_of_memory, "vulkan: no staging memory is left");
    }
    wait_for(in_flight_.front().value);
    reclaim();
}

void VulkanDevice::wait_for(std::uint64_t value) { (void)wait_at_most(value, UINT64_MAX); }

bool VulkanDevice::poll(std::uint64_t value) {
    // The threads of a device that is the processor need it themselves.
    if (info_.is_cpu) {
        return false;
    }
    const auto end = std::chrono::steady_clock::now() + polling;
    do {
        std::uint64_t reached = 0;
        check_lost(context_->vk.vkGetSemaphoreCounterValue(context_->device, timeline_, &reached),
                   "vkGetSemaphoreCounterValue");
        if (reached >= value) {
            return true;
        }
        pause();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

void VulkanDevice::wait_patiently(std::uint64_t value) {
    if (poll(value)) {
        return;
    }
    if (while_waiting == nullptr) {
        wait_for(value);
        return;
    }
    while (wait_at_most(value, patience) == VK_TIMEOUT) {
        while_waiting();
    }
}

VkResult VulkanDevice::wait_at_most(std::uint64_t value, std::uint64_t nanoseconds) {
    if (value == 0) {
        return VK_SUCCESS;
    }
    VkSemaphoreWaitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline_;
    info.pValues = &value;
    const VkResult result = context_->vk.vkWaitSemaphores(context_->device, &info, nanoseconds);
    check_lost(result, "vkWaitSemaphores");
    return result;
}

std::vector<std::string> VulkanDevice::validation_messages() const {
    return context_->instance->validation_messages();
}

Statistics VulkanDevice::statistics() const {
    const Memory::Usage usage = memory_->usage();
    const Memory::Usage images = images_->memory().usage();
    const std::lock_guard lock(mutex_);
    return {usage.reserved,  usage.used,  usage.blocks, submitted_,
            images.reserved, images.used, images.blocks};
}

}  // namespace kf::vulkan
