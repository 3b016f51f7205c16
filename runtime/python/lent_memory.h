// CUDA memory of PyTorch's while calls use it, and no longer.
#pragma once

#include <memory>

#include "core/tensor_state.h"
#include "python/foreign.h"
#include "python/tensor.h"

namespace kf::python {

/// A tensor that can be led to other memory from call to call. Its commands run on the stream that PyTorch
/// orders all that uses the memory by.
class Loan {
public:
    /// For memory of the device's.
    Loan(const Device& device, const ForeignTensor& memory);

    /// Leads it to a tensor of the same device. Returns false, with nothing done, for one whose elements no
    /// kernel could reach.
    bool lead_to(const ForeignTensor& memory);
    /// Gives it gradients, null for none; what `out` holds doesn't count where it is new.
    void set_gradients(const AnyTensor& in, const AnyTensor& out, bool is_new = false) {
        state_->grad_in = in;
        state_->grad_out = out;
        state_->grad_is_new = is_new;
    }
    /// Whether nobody else has it, so that it can be led elsewhere.
    [[nodiscard]] bool is_alone() const {
        const long known = state_->allocation != nullptr ? 2 : 1;
        return state_.use_count() == 2 && memory_.use_count() == known;
    }
    Tensor tensor;         ///< without a context, unless a call has it
    Loan* next = nullptr;  ///< in the list that it is in

private:
    std::shared_ptr<detail::TensorState> state_;  ///< that of `tensor`
    std::shared_ptr<driver::Allocation> memory_;
};

/// The loans of one call, taken from those that its device keeps. Needs the GIL.
class Loans {
public:
    Loans() = default;
    ~Loans();
    Loans(const Loans&) = delete;
    Loans& operator=(const Loans&) = delete;

    /// Null for what no kernel could reach.
    Loan* take(const ContextPtr& context, const ForeignTensor& memory);

private:
    Loan* first_ = nullptr;
};

}  // namespace kf::python
