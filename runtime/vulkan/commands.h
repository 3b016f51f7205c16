// One command buffer: records commands with the barriers they need, and owns what they use.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/driver.h"
#include "core/owners.h"
#include "vulkan/descriptors.h"
#include "vulkan/hazards.h"
#include "vulkan/host_pool.h"
#include "vulkan/kernel.h"
#include "vulkan/memory.h"

namespace kf::vulkan {

/// Not thread-safe. A command that throws has recorded nothing, and the list can be used on.
class CommandList {
public:
    /// How often a list is submitted, between two times that it is emptied.
    enum class Runs : std::uint8_t { once, often };

    /// `parameters` serves kernels whose blocks lie in memory.
    CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters,
                Runs runs = Runs::once);
    /// Records into a command buffer of the caller's, which is being recorded.
    CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters,
                VkCommandBuffer callers);
    ~CommandList();
    CommandList(const CommandList&) = delete;
    CommandList& operator=(const CommandList&) = delete;

    void dispatch(const driver::Dispatch& dispatch);
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word);
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size);
    void copy_in(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
                 const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);
    void copy_out(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset, std::uint64_t size,
                  const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);

    [[nodiscard]] std::size_t size() const { return size_; }  ///< commands
    /// Memory of others that the commands use. Letting go of it is up to the caller.
    [[nodiscard]] std::vector<std::shared_ptr<driver::Allocation>>& foreign() { return foreign_; }
    /// Everything else that the commands use, some of it several times.
    [[nodiscard]] std::span<const std::shared_ptr<driver::Allocation>> allocations() const {
        return allocations_.all();
    }
    /// Ends the command buffer, unless it is ended already, and returns it. The caller's own isn't ended:
    /// what follows in it sees what was written.
    VkCommandBuffer finish();
    [[nodiscard]] bool is_callers() const { return pool_ == VK_NULL_HANDLE; }
    /// Empties the list for its next use and lets go of what it owned. The GPU must be done with it.
    void reset();

    [[nodiscard]] const Context* context() const { return context_.get(); }
    /// Checks that it is memory of this list's device and that the bytes lie inside; throws
    /// kf::ArgumentError (device_mismatch, index_range).
    static VulkanAllocation& checked(const Context* context, driver::Allocation* allocation,
                                     std::uint64_t offset, std::uint64_t size, const char* what);

private:
    void begin();
    void keep(driver::Allocation& allocation);
    void keep(const std::shared_ptr<HostPool::Chunk>& chunk);
    void barrier();
    /// Puts a barrier where a command must wait that accesses memory so: by its hazard key, and whether it
    /// writes.
    void order(std::initializer_list<std::pair<const void*, bool>> accesses);
    /// Checks the resources and sets buffers_ to them.
    void describe(const VulkanKernel& kernel, const driver::Dispatch& dispatch);
    /// The block's offset in blocks_, from where on `room` bytes lie in the buffer.
    std::uint64_t store_block(std::span<const std::byte> block, std::uint64_t room);

    std::shared_ptr<Context> context_;
    std::shared_ptr<HostPool> parameters_;
    VkCommandPool pool_ = VK_NULL_HANDLE;  ///< null for a command buffer of the caller's
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    Runs runs_ = Runs::once;
    bool recording_ = false;
    bool ended_ = false;
    std::size_t size_ = 0;
    Hazards hazards_;
    const VulkanKernel* bound_ = nullptr;
    Owners<driver::Allocation> allocations_;
    std::vector<std::shared_ptr<driver::Allocation>> foreign_;
    Owners<driver::Kernel> kernels_;
    std::vector<std::shared_ptr<HostPool::Chunk>> chunks_;
    std::shared_ptr<HostPool::Chunk> blocks_;  ///< where parameter blocks go
    Descriptors descriptors_;
    std::vector<VkDescriptorBufferInfo> buffers_;  ///< of one dispatch
};

/// The command list of driver::Device::make_recorder().
class VulkanRecorder final : public driver::Recorder {
public:
    explicit VulkanRecorder(std::unique_ptr<CommandList> list) : list_(std::move(list)) {}

    void dispatch(const driver::Dispatch& dispatch) override { list_->dispatch(dispatch); }
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override {
        list_->fill(target, offset, size, word);
    }
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override {
        list_->copy(target, target_offset, source, source_offset, size);
    }

    [[nodiscard]] const CommandList& list() const { return *list_; }
    std::unique_ptr<CommandList> take() { return std::move(list_); }

private:
    std::unique_ptr<CommandList> list_;
};

}  // namespace kf::vulkan
