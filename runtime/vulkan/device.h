// An open Vulkan device: eager commands in batches, transfers, submissions.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/commands.h"
#include "vulkan/driver.h"
#include "vulkan/images.h"
#include "vulkan/samplers.h"

namespace kf::vulkan {

class VulkanDevice final : public driver::Device {
public:
    /// `lock_queue` and `unlock_queue` may be empty.
    VulkanDevice(std::shared_ptr<Context> context, driver::Info info, std::function<void()> lock_queue,
                 std::function<void()> unlock_queue);
    ~VulkanDevice() override;
    VulkanDevice(const VulkanDevice&) = delete;
    VulkanDevice& operator=(const VulkanDevice&) = delete;

    [[nodiscard]] const driver::Info& info() const override { return info_; }
    void admit(std::uint64_t upload) override {
        if (upload != 0 || waiting_.load(std::memory_order_relaxed) >= max_waiting) {
            wait_for_room(upload);
        }
    }
    std::shared_ptr<driver::Allocation> allocate(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> zeros(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> allocate_mapped(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> wrap(driver::ForeignMemory memory) override {
        return memory_->wrap(std::move(memory));
    }
    std::shared_ptr<driver::Allocation> import_host(const driver::HostMemory& memory) override;
    void wait_until_idle(const std::shared_ptr<driver::Allocation>& allocation) override;
    std::shared_ptr<driver::Kernel> load_kernel(const manifest::Kernel& kernel) override;
    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;
    void upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                std::span<const std::byte> bytes) override;
    void read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                   std::span<std::byte> bytes) override;
    std::shared_ptr<driver::Image> make_image(const driver::ImageShape& shape) override;
    std::shared_ptr<driver::Image> wrap_image(driver::ForeignImage image) override;
    std::shared_ptr<driver::Sampler> make_sampler(const driver::SamplerDescription& description) override;
    void upload_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                      std::span<const std::byte> texels) override;
    void read_back_image(const std::shared_ptr<driver::Image>& source, const driver::ImageRegion& region,
                         std::span<std::byte> texels) override;
    void copy_to_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) override;
    void copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         const std::shared_ptr<driver::Image>& source,
                         const driver::ImageRegion& region) override;
    void generate_mips(const std::shared_ptr<driver::Image>& image, const driver::ImageRange& range) override;
    void flush() override;
    void wait() override;
    std::unique_ptr<driver::Recorder> make_recorder() override;
    void submit(std::unique_ptr<driver::Recorder> recorder) override;
    std::unique_ptr<driver::Graph> make_graph() override;
    [[nodiscard]] bool shows_labels() const override {
        return context_->vk.vkCmdBeginDebugUtilsLabelEXT != nullptr;
    }
    std::shared_ptr<driver::Timestamp> mark_time() override;
    [[nodiscard]] double nanoseconds(const driver::Timestamp& from,
                                     const driver::Timestamp& to) const override;
    void replay(driver::Graph& graph) override;

    /// See vulkan/driver.h.
    std::unique_ptr<driver::Recorder> record_into(VkCommandBuffer commands);
    std::uint64_t finish(std::unique_ptr<driver::Recorder> recorder);
    void release(std::uint64_t commands);

    [[nodiscard]] const std::shared_ptr<Context>& context() const { return context_; }
    [[nodiscard]] Memory& memory() { return *memory_; }
    void wait_until_queue_is_idle();
    /// Flushes. Then what comes later on the queue waits until the semaphore has the value, or the semaphore
    /// gets it when all that came before is done.
    void wait_on_queue(VkSemaphore timeline, std::uint64_t value);
    void signal_on_queue(VkSemaphore timeline, std::uint64_t value);

    [[nodiscard]] std::vector<std::string> validation_messages() const;
    [[nodiscard]] Statistics statistics() const;

private:
    /// Submissions at which admit() waits; bounds what waiting batches hold on to.
    static constexpr std::size_t max_waiting = 16;

    /// Holds mutex_; lets go of departing_ once it is released, since others' owners may wait for their own
    /// locks.
    class Lock {
    public:
        explicit Lock(VulkanDevice& device) : device_(device) { lock(); }
        ~Lock() {
            if (held_) {
                unlock();
            }
        }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

        void lock() {
            device_.mutex_.lock();
            held_ = true;
        }
        void unlock() {
            const std::vector<std::shared_ptr<void>> departing = std::move(device_.departing_);
            device_.departing_.clear();
            held_ = false;
            device_.mutex_.unlock();
        }

    private:
        VulkanDevice& device_;
        bool held_ = false;
    };

    struct Submission {
        std::uint64_t value = 0;
        std::unique_ptr<CommandList> list;
        std::shared_ptr<CommandList> graphs;  ///< a graph's, instead of one of the device's own

        [[nodiscard]] const CommandList& commands() const { return list != nullptr ? *list : *graphs; }
    };

    // All below with mutex_ held, but for those that wait.
    void check_usable() const;
    std::unique_ptr<CommandList> new_list();
    CommandList& current();
    std::unique_ptr<CommandList> take_list(driver::Recorder* recorder, bool is_callers) const;
    static void count_callers_use(const CommandList& list, std::int32_t change);
    void used_now(driver::Allocation* allocation);
    void flush_if_full();
    void flush_current();
    void submit_list(std::unique_ptr<CommandList> list);
    void submit_commands(Submission submission, VkCommandBuffer buffer);
    VkResult submit_buffer(VkCommandBuffer buffer, std::uint64_t value);
    void submit_alone(const VkSubmitInfo& info);
    /// Keeps the memory and images of others that the list used until mutex_ is released.
    void depart(CommandList& list);
    void reclaim();
    void wait_oldest();
    void stage(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
               std::span<const std::byte> bytes);
    /// Reads `bytes` in pieces: `copy`, called with mutex_ held, has the next one copied to the chunk's
    /// beginning and returns its size. Not with mutex_ held.
    void read_pieces(std::span<std::byte> bytes,
                     const std::function<std::size_t(const std::shared_ptr<HostPool::Chunk>&)>& copy);
    /// Puts the image, or the list's images, into their resting layouts before whatever comes next.
    void begin_fresh(driver::Image* image);
    void begin_fresh(const CommandList& list);
    void wait_for(std::uint64_t value);
    void wait_for_room(std::uint64_t upload);
    /// Does what wait_for() does, and calls while_waiting() meanwhile: not with mutex_ held.
    void wait_patiently(std::uint64_t value);
    void wait_for_all(void (VulkanDevice::*wait_until)(std::uint64_t value));
    /// Asks again and again for a while, with mutex_ held or not; returns whether the value was reached.
    bool poll(std::uint64_t value);
    VkResult wait_at_most(std::uint64_t value, std::uint64_t nanoseconds);
    void check_lost(VkResult result, const char* function);

    std::shared_ptr<Context> context_;
    driver::Info info_;
    std::function<void()> lock_queue_;
    std::function<void()> unlock_queue_;
    std::shared_ptr<Memory> memory_;
    std::shared_ptr<Memory> mapped_;  ///< the host's, for allocate_mapped() of a GPU with memory of its own
    std::shared_ptr<HostPool> uploads_;
    std::shared_ptr<HostPool> read_backs_;
    std::shared_ptr<HostPool> parameters_;
    std::unique_ptr<Images> images_;
    std::unique_ptr<Samplers> samplers_;
    Timestamps timestamps_;

    mutable std::mutex mutex_;
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    std::uint64_t submitted_ = 0;  ///< the timeline's value once all that was submitted is done
    std::uint64_t completed_ = 0;  ///< the timeline's value when last asked
    std::atomic<bool> lost_ = false;
    std::unique_ptr<CommandList> current_;       ///< the batch being recorded, or null
    std::shared_ptr<HostPool::Chunk> staging_;   ///< of the batch being recorded
    std::uint64_t staged_ = 0;                   ///< bytes, in the batch being recorded
    std::shared_ptr<driver::Allocation> zeros_;  ///< null until a call needs them
    std::vector<std::shared_ptr<void>> departing_;
    std::deque<Submission> in_flight_;
    std::atomic<std::size_t> waiting_ = 0;  ///< the size of in_flight_
    std::vector<std::unique_ptr<CommandList>> idle_;
    std::map<std::uint64_t, std::unique_ptr<CommandList>> callers_;  ///< in command buffers of the caller's
    std::uint64_t next_of_callers_ = 1;
};

}  // namespace kf::vulkan
