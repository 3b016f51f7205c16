// The times at which the GPU came to places in command lists.
#pragma once

#include <cstdint>
#include <memory>

#include "core/observable_device.h"
#include "vulkan/context.h"

namespace kf::vulkan {

/// Queries for a few timestamps; destroyed with the last of those, and of the lists that write them.
class QueryPool {
public:
    static constexpr std::uint32_t size = 256;

    explicit QueryPool(std::shared_ptr<const Context> context);
    ~QueryPool();
    QueryPool(const QueryPool&) = delete;
    QueryPool& operator=(const QueryPool&) = delete;

    [[nodiscard]] VkQueryPool handle() const { return handle_; }
    [[nodiscard]] const Context& context() const { return *context_; }

private:
    std::shared_ptr<const Context> context_;
    VkQueryPool handle_ = VK_NULL_HANDLE;
};

class VulkanTimestamp final : public driver::Timestamp {
public:
    VulkanTimestamp(std::shared_ptr<const QueryPool> pool, std::uint32_t index)
        : pool_(std::move(pool)), index_(index) {}

    /// Records that it is taken when all before it is done; once.
    void write(VkCommandBuffer commands) const;
    /// The GPU's ticks; waits for it. Its list was submitted.
    [[nodiscard]] std::uint64_t ticks() const;

private:
    std::shared_ptr<const QueryPool> pool_;
    std::uint32_t index_;
};

/// Makes a device's timestamps. One thread at a time.
class Timestamps {
public:
    explicit Timestamps(std::shared_ptr<const Context> context);
    /// Returns null where the queue has no timestamps.
    std::shared_ptr<VulkanTimestamp> make();
    [[nodiscard]] double nanoseconds(const VulkanTimestamp& from, const VulkanTimestamp& to) const;

private:
    std::shared_ptr<const Context> context_;
    std::uint32_t bits_ = 0;  ///< of a tick that count; 0: the queue has no timestamps
    double period_ = 1;       ///< nanoseconds of a tick
    std::shared_ptr<const QueryPool> pool_;
    std::uint32_t next_ = QueryPool::size;
};

}  // namespace kf::vulkan
