// A command list that the caller fills and submits.
#pragma once

#include <memory>
#include <utility>

#include "core/driver.h"
#include "vulkan/commands.h"

namespace kf::vulkan {

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
