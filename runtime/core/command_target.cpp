// Where a call's commands go.
#include "core/command_target.h"

#include "core/tensor_state.h"

namespace kf::detail {

void CommandTarget::mark_begin() const {
    if (marks_ != nullptr && recorder_ == nullptr) marks_->mark_begin(driver_);
}

void CommandTarget::dispatch_marked(driver::Dispatch dispatch) const {
    dispatch.label = marks_->label;
    if (recorder_ != nullptr) {
        recorder_->dispatch(dispatch);
        return;
    }
    mark_begin();
    driver_.dispatch(dispatch);
    marks_->mark_end(driver_);
}

void CommandTarget::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         std::uint64_t size) const {
    mark_begin();
    if (recorder_ != nullptr) {
        recorder_->fill(target, offset, size, 0);
    } else {
        driver_.fill(target, offset, size, 0);
    }
}

void CommandTarget::zero(const TensorState& tensor) const {
    std::uint64_t elements = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
        const bool is_shared = tensor.strides[d] == 0 && tensor.shape[d] > 1;
        elements *= is_shared ? 1 : static_cast<std::uint64_t>(tensor.shape[d]);
    }
    zero(tensor.allocation, tensor.offset, elements * tensor.element.size());
}

/// Fills take whole words; what ends or begins within one is copied from zeros.
void CommandTarget::zero(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         std::uint64_t size) const {
    if (size == 0) {
        return;
    }
    const std::uint64_t words = (size + 3) & ~std::uint64_t{3};
    // There is nothing to keep past an allocation's last element.
    if (offset % 4 == 0 && (size == words || offset + words == target->size)) {
        fill(target, offset, words);
        return;
    }
    const std::shared_ptr<driver::Allocation> zeros =
        runs_often_ ? device_.allocate(size) : device_.allocate_scratch(size);
    fill(zeros, 0, words);
    if (recorder_ != nullptr) {
        recorder_->copy(target, offset, zeros, 0, size);
    } else {
        driver_.copy(target, offset, zeros, 0, size);
    }
}

void CommandTarget::replay(const CommandLog& log) const {
    mark_begin();
    if (recorder_ != nullptr) {
        log.replay(*recorder_);
    } else {
        log.replay(driver_);
    }
}

}  // namespace kf::detail
