// Commands that are recorded into a command buffer once and submitted often.
#include "vulkan/graph.h"

#include <algorithm>
#include <utility>

namespace kf::vulkan {

std::shared_ptr<CommandList> VulkanGraph::make_list() const {
    return std::make_shared<CommandList>(context_, parameters_, CommandList::Runs::often);
}

void VulkanGraph::dispatch(const driver::Dispatch& dispatch) {
    list_->dispatch(dispatch);
    log_.dispatch(dispatch);
}

void VulkanGraph::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                       std::uint64_t size, std::uint32_t word) {
    list_->fill(target, offset, size, word);
    log_.fill(target, offset, size, word);
}

void VulkanGraph::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                       std::uint64_t size) {
    list_->copy(target, target_offset, source, source_offset, size);
    log_.copy(target, target_offset, source, source_offset, size);
}

void VulkanGraph::set_block(std::size_t index, std::span<const std::byte> block) {
    std::ranges::copy(block, log_.block(index).begin());
    is_changed_ = true;
}

std::shared_ptr<CommandList> VulkanGraph::take_retired() {
    const auto is_done = [](const std::shared_ptr<CommandList>& list) { return list.use_count() == 1; };
    const auto found = std::ranges::find_if(retired_, is_done);
    if (found == retired_.end()) {
        return make_list();
    }
    std::shared_ptr<CommandList> list = std::move(*found);
    retired_.erase(found);
    list->reset();
    return list;
}

const std::shared_ptr<CommandList>& VulkanGraph::list() {
    if (is_changed_) {
        std::shared_ptr<CommandList> next = take_retired();
        log_.replay(*next);
        if (list_.use_count() == 1) {
            list_->reset();
        } else {
            list_->is_over = true;
        }
        retired_.push_back(std::exchange(list_, std::move(next)));
        is_changed_ = false;
    }
    return list_;
}

}  // namespace kf::vulkan
