// Commands that are recorded into a command buffer once and submitted often.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/command_log.h"
#include "core/driver.h"
#include "vulkan/commands.h"

namespace kf::vulkan {

/// The graph of driver::Device::make_graph(). Parameters are part of the command buffer: where one was
/// changed, it is recorded anew for the next run. One thread at a time.
class VulkanGraph final : public driver::Graph {
public:
    VulkanGraph(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters)
        : context_(std::move(context)), parameters_(std::move(parameters)), list_(make_list()) {}

    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;
    void set_block(std::size_t index, std::span<const std::byte> block) override;

    [[nodiscard]] const Context* context() const { return context_.get(); }
    /// The commands as they are now.
    const std::shared_ptr<CommandList>& list();

private:
    [[nodiscard]] std::shared_ptr<CommandList> make_list() const;
    [[nodiscard]] std::shared_ptr<CommandList> take_retired();

    std::shared_ptr<Context> context_;
    std::shared_ptr<HostPool> parameters_;
    detail::CommandLog log_;  ///< keeps the memory, whatever becomes of lists
    std::shared_ptr<CommandList> list_;
    std::vector<std::shared_ptr<CommandList>> retired_;  ///< that the log went on from; the GPU may run them
    bool is_changed_ = false;                            ///< the list isn't what the log says
};

}  // namespace kf::vulkan
