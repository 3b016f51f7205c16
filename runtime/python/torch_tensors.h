// torch.Tensors as calls see them: those of the CPU as NumPy arrays, those of CUDA as tensors of ours.
#pragma once

#include <memory>
#include <optional>

#include "python/foreign.h"
#include "python/tensor.h"
#include "python/watched.h"

namespace kf::python {

/// One tensor of PyTorch's in a call, with the memory that it has meanwhile.
struct TorchTensor {
    py::object given;
    ForeignTensor memory;
    std::optional<py::array> array;  ///< on the CPU: the same memory
    Tensor on_device;                ///< on CUDA: the same
    bool is_copy = false;   ///< of the elements of a negative view, which memory has with another sign
    detail::Refusal fault;  ///< why it is neither

    [[nodiscard]] bool is_readable() const { return array || on_device.any; }
};

/// Reads a tensor of kind `plain`. Throws WatchedCall for one that PyTorch's transforms wrap.
std::unique_ptr<TorchTensor> see_torch(const Torch& torch, const py::object& tensor);

/// "cpu" or "cuda:1"
std::string place_text(const ForeignTensor& memory);

/// CUDA memory as a tensor, for work on the stream that orders all that uses it. Borrowed.
AnyTensor lend(const ForeignTensor& memory, const ContextPtr& context);

/// The same for commands that run later, on whatever stream: they keep the tensor, and come after what
/// PyTorch has had done to it so far.
AnyTensor keep_torch(const TorchTensor& tensor, const ContextPtr& context);

/// A new tensor of PyTorch's for what a call returns. `device`: as PyTorch takes it.
std::unique_ptr<TorchTensor> make_torch(const Torch& torch, const Dims& shape, ScalarType scalar,
                                        const py::object& device);

/// The stream that PyTorch has CUDA work on in this thread.
void* current_stream(const TorchTensor& tensor);

/// "a float32 torch.Tensor of shape [2, 3] on cuda:0"
std::string shown_torch(py::handle tensor);

}  // namespace kf::python
