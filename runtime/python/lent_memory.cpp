// CUDA memory of PyTorch's while calls use it.
#include "python/lent_memory.h"

#include <memory>
#include <utility>

#include "python/foreign_parts.h"
#include "python/gil.h"

namespace kf::python {

using detail::Reach;

namespace {

bool is_reachable(const ForeignTensor& memory) {
    return memory.address % size_of(memory.scalar) == 0 && (memory.address == 0 || reach_of(memory));
}

}  // namespace

Loan::Loan(const Device& device, const ForeignTensor& memory)
    : state_(std::make_shared<detail::TensorState>()) {
    state_->device = device.state();
    tensor.any = AnyTensor(state_);
    const Reach reach = memory.address != 0 ? *reach_of(memory) : Reach{};
    driver::ForeignMemory wrapped{memory.address - reach.before, 0, reach.size, nullptr, true};
    {
        const GilRelease release;
        memory_ = device.state()->driver().wrap(std::move(wrapped));
    }
    (void)lead_to(memory);
}

bool Loan::lead_to(const ForeignTensor& memory) {
    if (memory.address % size_of(memory.scalar) != 0) return false;
    detail::TensorState& state = *state_;
    std::int64_t size = 1;
    for (const std::int64_t extent : memory.shape) size *= extent;
    if (size == 0) {
        state.allocation = nullptr;
    } else {
        const std::optional<Reach> reach = reach_of(memory);
        if (!reach) return false;
        if (state.allocation == nullptr) state.allocation = memory_;
        memory_->address = memory.address - reach->before;
        memory_->size = reach->size;
        state.offset = reach->before;
    }
    state.element = {memory.scalar, 0};
    state.shape = memory.shape;
    state.strides = memory.strides;
    state.size = size;
    return true;
}

LoanList::~LoanList() {
    while (first != nullptr) delete std::exchange(first, first->next);
}

Loans::~Loans() {
    for (Loan* loan = first_; loan != nullptr; loan = loan->next) loan->set_gradients({}, {});
    while (first_ != nullptr) {
        std::unique_ptr<Loan> loan(std::exchange(first_, first_->next));
        const ContextPtr context = std::move(loan->tensor.context);
        if (!loan->is_alone()) continue;
        loan->next = context->loans.first;
        context->loans.first = loan.release();
    }
}

Loan* Loans::take(const ContextPtr& context, const ForeignTensor& memory) {
    Loan*& kept = context->loans.first;
    std::unique_ptr<Loan> loan;
    if (kept != nullptr) {
        loan.reset(std::exchange(kept, kept->next));
        if (!loan->lead_to(memory)) return nullptr;
    } else {
        if (!is_reachable(memory)) return nullptr;
        loan = std::make_unique<Loan>(context->device(), memory);
    }
    loan->tensor.context = context;
    loan->next = first_;
    return first_ = loan.release();
}

}  // namespace kf::python
