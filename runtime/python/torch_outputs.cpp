// Results that are tensors of PyTorch's.
#include "python/torch_outputs.h"

#include "core/tensor_state.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/host_imports.h"

namespace kf::python {
namespace {

/// A vector's extents come last, or those of structs.
Dims shape_of_scalars(const ElementType& element, const manifest::StructScalars* structs, const Dims& shape) {
    Dims full = shape;
    for (std::size_t i = 0; i < element.rank; ++i) full.push_back(element.extents[i]);
    for (std::size_t i = 0; structs != nullptr && i < structs->extents.size(); ++i)
        full.push_back(structs->extents[i]);
    return full;
}

}  // namespace

AnyTensor TorchOutput::memory_of(const TorchTensor& tensor) {
    if (tensor.array) return imported_ = import_result(*tensor.array, tensor.memory.scalar, *context_);
    if (crossing_ != nullptr) return cross(*crossing_, tensor.memory, false, true, {});
    return is_kept_ ? keep_torch(tensor, context_) : lend(tensor.memory, context_);
}

/// Makes one of scalars on CUDA, for a call that is made at once, without looking at all of it.
bool TorchOutput::lend_made(const Torch& torch, const ElementType& element, const Dims& shape,
                            AnyTensor& memory) {
    if (like_ == nullptr || is_kept_ || crossing_ != nullptr || element.rank != 0 || structs_ != nullptr)
        return false;
    const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(like_));
    if (api == nullptr) return false;
    made_ = torch.empty(to_tuple(shape), element.scalar, torch.device(like_));
    ForeignTensor found;
    if (borrow(*api, made_.ptr(), found, nullptr) != Borrowing::taken) return false;
    const Loan* const loan = loans_.take(context_, found);
    if (loan == nullptr) return false;
    memory = loan->tensor.any;
    return true;
}

AnyTensor TorchOutput::make(const ElementType& element, const Dims& shape) {
    const GilHold lock;
    const Torch& torch = *Torch::loaded();
    if (AnyTensor lent; lend_made(torch, element, shape, lent)) return lent;
    const auto seen = make_torch(torch, shape_of_scalars(element, structs_, shape),
                                 structs_ != nullptr ? structs_->scalar : element.scalar,
                                 like_ == nullptr ? py::object(py::str("cpu")) : torch.device(like_));
    const AnyTensor memory = memory_of(*seen);
    if (!memory) return AnyTensor::empty(context_->device(), element, shape);
    made_ = seen->given;
    detail::TensorState state = *memory.state();
    state.element = element;
    state.shape = shape;
    state.strides = detail::row_major(shape);
    state.size = detail::checked_product(shape, "a result");
    return AnyTensor(std::make_shared<const detail::TensorState>(std::move(state)));
}

py::object to_torch_host(const AnyTensor& tensor) {
    const auto seen =
        make_torch(*Torch::loaded(), shape_of_scalars(tensor.element(), nullptr, tensor.shape()),
                   tensor.element().scalar, py::str("cpu"));
    download_into({tensor, nullptr, nullptr}, *seen->array);
    return seen->given;
}

py::object to_torch_value(const ElementType& element, const std::byte* data, PyObject* like) {
    const Torch& torch = *Torch::loaded();
    const py::object made = torch.from_numpy(to_array(element, data));
    return like == nullptr ? made : made.attr("to")(torch.device(like));
}

}  // namespace kf::python
